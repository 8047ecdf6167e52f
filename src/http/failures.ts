// Turns the errors of Node, OpenSSL and undici into errors of this program: what happened, what to do, and whether a
// retry may help. An exchange fails in one of three ways: the response is broken, it is cut, or it never came because
// the connection was closed.
import { errnoOf, FilingsError } from '../errors.ts';
import { foreign } from '../secrets.ts';
import type { World } from '../world.ts';

/** The code of a connection that was closed before a request was written to it. */
export const CLOSED_BEFORE_REQUEST = 'CLOSED_BEFORE_REQUEST';

const CHECK_NETWORK = 'check the base URL and the network, then run it again';
const ASK_OPERATOR = 'ask the operator of the server';

/** Alerts by which a server refuses what this program can offer. Every further try would meet the same one. */
const TLS_REFUSAL = /alert.(protocol.version|handshake.failure|certificate.required|bad.certificate)/;

/** What an error means, by its code and message in lower case. */
const REASONS: readonly (readonly [words: RegExp, reason: string, hint: string])[] = [
  [/^(enotfound|eai_again) /, 'the name does not resolve', 'check the base URL, the network and the name server'],
  [/^econnrefused /, 'connection refused', 'nothing listens there: check the host and the port of the base URL'],
  [/^econnreset /, 'the connection was closed while connecting', CHECK_NETWORK],
  [/^etimedout /, 'connecting timed out', 'check the network, or allow more time with --connect-timeout'],
  [/^e(host|net)unreach /, 'no route to the host', CHECK_NETWORK],
  [
    /alert.protocol.version/,
    'the server supports neither TLS 1.2 nor TLS 1.3',
    `older versions are not safe: ${ASK_OPERATOR} to enable TLS 1.2 or later`,
  ],
  [
    /alert.(certificate.required|bad.certificate)/,
    'the server demands a client certificate',
    `this program cannot send one: ${ASK_OPERATOR} for another way in`,
  ],
  [
    TLS_REFUSAL,
    'the server refuses the TLS handshake',
    `it may demand a client certificate, which this program cannot send, or have no cipher in common: ${ASK_OPERATOR}`,
  ],
  [
    /^(err_ssl|err_tls|eproto)/,
    'the TLS handshake failed',
    'the server may not speak https on this port: check the base URL',
  ],
];
/** The codes with which Node and OpenSSL refuse a certificate. */
const CERTIFICATE =
  /^(?!ERR_SSL|EPROTO).*(CERT|ALTNAME|HOSTNAME|SIGNATURE|ISSUER|INVALID_CA|PURPOSE|PATH_LENGTH|UNSPECIFIED)/;
const UNTRUSTED = /SELF_SIGNED|SIGNATURE|ISSUER|CERT_UNTRUSTED/;

/** Returns the error for a connection that could not be made. */
export function connectError(error: unknown, proxy: URL | undefined, env: World['env']): FilingsError {
  // If a host has several addresses (RFC 8305), there is one error for each.
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const cause = causes.find((each) => errnoOf(each) !== undefined) ?? error;
  const code = errnoOf(cause) ?? '';
  if (code === 'EMFILE' || code === 'ENFILE') {
    const hint = 'lower --jobs, or raise the limit (ulimit -n)';
    return new FilingsError('local_io', 'cannot connect: too many open files', { cause, hint, stopsRun: true });
  }
  if (CERTIFICATE.test(code)) {
    const { message: quote } = cause as Error;
    const details = { cause, quote, connected: false, hint: certificateHint(code, env) };
    return new FilingsError('temporary', "the server's certificate is refused", details);
  }
  const failure = systemError(cause);
  if (!proxy || /^(ERR_|EPROTO)/.test(code)) return failure;
  return failure.with({
    hint: 'check HTTPS_PROXY and HTTP_PROXY, or put the host in NO_PROXY to connect without a proxy',
  });
}

function certificateHint(code: string, env: World['env']): string {
  if (!UNTRUSTED.test(code)) return 'check the base URL and this clock; certificate checks cannot be disabled';
  if (env.NODE_EXTRA_CA_CERTS) {
    return 'NODE_EXTRA_CA_CERTS does not help: its file is not PEM, holds another authority, or lacks an intermediate certificate that the server does not send';
  }
  return 'set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of your own authority, or with an intermediate certificate that the server does not send';
}

function systemError(cause: unknown): FilingsError {
  const code = errnoOf(cause) ?? '';
  const message = cause instanceof Error ? cause.message : String(cause);
  const words = `${code} ${message}`.toLowerCase();
  const unknown = [/$/, `cannot connect (${code || foreign(message)})`, CHECK_NETWORK] as const;
  const [, reason, hint] = REASONS.find(([pattern]) => pattern.test(words)) ?? unknown;
  // OpenSSL's own words stand between a function and a file: `SSL routines:ssl3_get_record:wrong version number:...`
  const quote = /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1];
  const fault = /^(ENOTFOUND|EAI_AGAIN)$/.test(code) ? 'unresolved-name' : undefined;
  return new FilingsError('temporary', reason, {
    cause,
    quote,
    hint,
    fault,
    connected: false,
    retryable: !TLS_REFUSAL.test(words),
  });
}

/** The part of a body that arrived, in bytes. */
export interface PartialBody {
  readonly received: number;
  readonly expected: number | undefined;
}

/** Returns the error for an exchange that ended early, in its head if there is no `body`. */
export function exchangeError(error: unknown, body: PartialBody | undefined): FilingsError {
  if (isFieldOverflow(error)) return invalidHttpError('more than 16 KiB of header fields', error);
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) };
  const isMismatch = errnoOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  // The parser's errors have no code.
  const isParserError = name === 'HTTPParserError';
  const isCut = body !== undefined && (isMismatch || (isParserError && message.includes('(Invalid EOF state)')));
  if ((isMismatch || isParserError) && !isCut) {
    const detail = /\(.*\)/.exec(message)?.[0] ?? '';
    return invalidHttpError(`its ${body ? 'body' : 'head'} is broken ${isParserError ? detail : ''}`.trim(), error);
  }
  if (!isCut && !isConnectionError(error)) return ownFailure(error, name, message);
  if (body) return truncatedError(body, error);
  // With TLS 1.3 a server that demands a certificate says so only after the handshake.
  const refusal = systemError(error);
  if (!refusal.retryable) return refusal;
  const reason = 'the connection was closed before a response came';
  return new FilingsError('temporary', reason, { hint: 'run it again later', cause: error, retryable: true });
}

/** Returns whether the fields of a head, or the trailer fields after a body, were too long. */
export function isFieldOverflow(error: unknown): boolean {
  return errnoOf(error) === 'UND_ERR_HEADERS_OVERFLOW';
}

/** Returns the error for a body that ended early. It may be retried. */
export function truncatedError({ received, expected }: PartialBody, cause?: unknown): FilingsError {
  const of = expected === undefined ? '' : ` of ${expected}`;
  return new FilingsError('integrity', `truncated: the connection ended after ${received}${of} bytes`, {
    hint: 'run it again later',
    cause,
    retryable: true,
  });
}

/** Returns the error for a body whose end proves nothing. A retry would have the same result. */
export function unprovedEndError({ received }: PartialBody): FilingsError {
  const reason = `${received} bytes came over TLS without a length, so they may not be all`;
  return new FilingsError('integrity', reason, {
    hint: `${ASK_OPERATOR} to send a length or chunks; if you know the hash of the file, --sha256 proves it`,
    fault: 'unproved-end',
  });
}

/** Returns the error for a response that is not valid HTTP. */
export function invalidHttpError(description: string, cause?: unknown): FilingsError {
  return new FilingsError('integrity', `invalid HTTP response: ${foreign(description)}`, {
    hint: 'check the base URL, and any proxy in between',
    cause,
  });
}

/** Returns the error for an exception that neither the connection nor the response explains. */
function ownFailure(cause: unknown, name: string, message: string): FilingsError {
  if (cause instanceof RangeError && /memory/i.test(message)) {
    const hint = 'raise the limit on address space (ulimit -v), which a batch system may set: 4 GB are enough';
    return new FilingsError('local_io', 'no address space left', { hint, stopsRun: true, cause });
  }
  const hint = 'please report it; --verbose shows where it happened';
  return new FilingsError('internal', `a defect in the program: ${name}: ${foreign(message)}`, { hint, cause });
}

/** Returns whether the peer or the system closed the connection. */
function isConnectionError(error: unknown): boolean {
  const isNamed =
    /^(UND_ERR_SOCKET|UND_ERR_INFO|ECONNRESET|EPROTO|CLOSED_BEFORE_REQUEST)$|^ERR_(SSL|TLS|STREAM|SOCKET)/;
  return isNamed.test(errnoOf(error) ?? '') || (error as { syscall?: unknown } | null)?.syscall !== undefined;
}
