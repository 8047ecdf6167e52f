// Turns the errors of Node, OpenSSL and undici into errors of this program.
import { defectError, errnoOf, FilingsError } from '../errors.ts';
import { markForRedaction } from '../secrets.ts';
import { humanBytes, humanSizes } from '../text.ts';
import type { World } from '../world.ts';
import { MAX_HEAD_BYTES } from './head.ts';

/**
 * The connection was closed before undici wrote the request to it, so nothing was sent. It must not be one of undici's
 * own codes, such as `UND_ERR_SOCKET`: undici would then try to connect again instead of failing the request.
 */
export const CLOSED_BEFORE_REQUEST = 'CLOSED_BEFORE_REQUEST';

const CHECK_NETWORK = 'check the base URL and the network, then run it again';
const UNRESOLVED = 'the name does not resolve';
const ASK_OPERATOR = "ask the server's operator";

/**
 * TLS alerts (RFC 8446, section 6.2) that a retry would get again. Each dot stands for a space or an underscore:
 * OpenSSL's messages have spaces, Node's codes have underscores.
 */
const FINAL_ALERT = /alert.(protocol.version|handshake.failure|certificate.required|bad.certificate)/;

type Peer = 'server' | 'proxy';

/**
 * The patterns are compared with the error's code, a space and its message, in lower case. The first match wins, so a
 * row for one alert precedes the row with `FINAL_ALERT`, which matches all of them.
 */
const connectFailures = (peer: Peer): readonly (readonly [pattern: RegExp, reason: string, hint: string])[] => [
  // EINVAL is for a name of over 253 characters.
  [/^(enotfound |eai_again |einval getaddrinfo)/, UNRESOLVED, 'check the base URL, the network and the name server'],
  [/^econnrefused /, 'connection refused', 'nothing is listening there: check the host and the port of the base URL'],
  [/^econnreset /, 'the connection was closed while connecting', CHECK_NETWORK],
  [/^etimedout /, 'connecting timed out', 'check the network, or allow more time with --connect-timeout'],
  [/^e(host|net)unreach /, 'no route to the host', CHECK_NETWORK],
  [
    /alert.protocol.version/,
    `the ${peer} supports neither TLS 1.2 nor TLS 1.3`,
    `older versions are not safe: ${ASK_OPERATOR} to enable TLS 1.2 or later`,
  ],
  [
    /alert.(certificate.required|bad.certificate)/,
    `the ${peer} requires a client certificate`,
    `this program cannot send one: ${ASK_OPERATOR} for another way in`,
  ],
  [
    FINAL_ALERT,
    `the ${peer} refuses the TLS handshake`,
    `it may require a client certificate, which this program cannot send, or have no cipher in common: ${ASK_OPERATOR}`,
  ],
  [
    /wrong.version.number|packet.length.too.long|http.request/,
    `the ${peer} does not speak TLS`,
    'check the base URL: this port may be one for http',
  ],
  [/^(err_ssl|err_tls|eproto)/, 'the TLS handshake failed', CHECK_NETWORK],
];
/**
 * The codes of Node and OpenSSL for a server's certificate that cannot be verified, for another reason if it is
 * `UNSPECIFIED`. `ERR_SSL` codes are left out although some contain CERT, because those (such as
 * `ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED`) are about the client's.
 */
const CERTIFICATE_CODES =
  /^(?!ERR_SSL|EPROTO).*(CERT|ALTNAME|HOSTNAME|SIGNATURE|ISSUER|INVALID_CA|PURPOSE|PATH_LENGTH|UNSPECIFIED)/;
const UNTRUSTED_CODES = /SELF_SIGNED|SIGNATURE|ISSUER|CERT_UNTRUSTED/;

/** Pass `proxyHint` if there is a proxy. The peer is then the server once there is a tunnel to it. */
export function connectError(
  error: unknown,
  env: World['env'],
  peer: Peer = 'server',
  proxyHint?: string | undefined,
): FilingsError {
  // Node tries all addresses of a host (RFC 8305), and reports one error for each.
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const cause = causes.find((each) => errnoOf(each) !== undefined) ?? error;
  const code = errnoOf(cause) ?? '';
  // This is a limit of this machine, so the error is not `isUnreachable`: it says nothing about the service.
  if (code === 'EMFILE' || code === 'ENFILE') {
    const hint = 'lower --jobs, or raise the limit (ulimit -n)';
    return new FilingsError('local_io', 'cannot connect: too many open files', { cause, hint, stopsRun: true });
  }
  if (CERTIFICATE_CODES.test(code)) {
    const { message: quote } = cause as Error;
    // Not retryable: the server would send the same certificate again.
    const details = { cause, quote, isUnreachable: true, hint: certificateHint(code, env, peer) };
    return new FilingsError('temporary', `cannot verify the ${peer}'s certificate`, details);
  }
  const failure = networkError(cause, peer);
  // In a tunnel, a TLS error comes from the server, but any other one may come from the proxy.
  const isAboutServer = peer === 'server' && /^(ERR_|EPROTO)/.test(code);
  return proxyHint === undefined || isAboutServer ? failure : failure.with({ hint: proxyHint });
}

function certificateHint(code: string, env: World['env'], peer: Peer): string {
  if (!UNTRUSTED_CODES.test(code))
    return `check ${peer === 'proxy' ? "the proxy's URL" : 'the base URL'} and this machine's clock; certificate checks cannot be disabled`;
  if (env.NODE_EXTRA_CA_CERTS) {
    return 'NODE_EXTRA_CA_CERTS does not help: its file is not PEM, holds another authority, or lacks an intermediate certificate that the server does not send';
  }
  return 'set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of your own authority, or with an intermediate certificate that the server does not send';
}

function networkError(cause: unknown, peer: Peer = 'server'): FilingsError {
  const code = errnoOf(cause) ?? '';
  const message = cause instanceof Error ? cause.message : String(cause);
  const searched = `${code} ${message}`.toLowerCase();
  const otherFailure = [undefined, `cannot connect (${code || markForRedaction(message)})`, CHECK_NETWORK] as const;
  const [, reason, hint] = connectFailures(peer).find(([pattern]) => pattern.test(searched)) ?? otherFailure;
  // OpenSSL puts its explanation between a function and a file: `SSL routines:ssl3_get_record:wrong version number:...`
  const quote = /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1];
  const subcode = reason === UNRESOLVED ? 'unresolved-name' : undefined;
  return new FilingsError('temporary', reason, {
    cause,
    quote,
    hint,
    subcode,
    isUnreachable: true,
    retryable: !FINAL_ALERT.test(searched),
  });
}

/** In bytes. */
export interface BodyProgress {
  readonly received: number;
  readonly expected: number | undefined;
}

/**
 * `progress` is undefined if the head of the response had not arrived yet. `headFault` says better than undici what is
 * wrong with a malformed head.
 */
export function exchangeError(
  error: unknown,
  progress: BodyProgress | undefined,
  headFault?: string | undefined,
): FilingsError {
  const { name, message } = error instanceof Error ? error : { name: '', message: '' };
  if (isFieldOverflow(error)) return invalidHttpError(`more than ${MAX_HEAD_BYTES / 1024} KiB of header fields`, error);
  const kind = classify(error, name, message);
  if (kind === 'defect') return defectError(error);
  if (kind === 'malformed' || (kind === 'incomplete' && !progress)) {
    const detail = /\(.*\)/.exec(message)?.[0] ?? '';
    return invalidHttpError(headFault ?? `its ${progress ? 'body' : 'head'} is malformed ${detail}`.trim(), error);
  }
  if (progress) return truncatedError(progress, error);
  // In TLS 1.3, a server that requires a client certificate rejects a connection without one only after the client has
  // finished the handshake (RFC 8446, section 4.4.2.4), so its alert arrives here and not in `connectError`.
  // Only such a final alert makes the error of `networkError` not retryable.
  const refusal = networkError(error);
  if (!refusal.retryable) return refusal;
  const reason = 'the connection was closed before a response arrived';
  return new FilingsError('temporary', reason, { cause: error, retryable: true });
}

function classify(error: unknown, name: string, message: string): 'incomplete' | 'malformed' | 'closed' | 'defect' {
  // Too few bytes. They cannot be too many, because undici's parser ends the body at Content-Length.
  if (errnoOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'incomplete';
  // An error of undici's parser need not have a code, so its name identifies it.
  if (name === 'HTTPParserError') return message.includes('(Invalid EOF state)') ? 'incomplete' : 'malformed';
  return isClosedConnection(error) ? 'closed' : 'defect';
}

export function isFieldOverflow(error: unknown): boolean {
  return errnoOf(error) === 'UND_ERR_HEADERS_OVERFLOW';
}

export function truncatedError({ received, expected }: BodyProgress, cause?: unknown): FilingsError {
  const amount = expected === undefined ? humanBytes(received) : humanSizes(received, expected).join(' of ');
  return new FilingsError('integrity', `truncated: the connection ended after ${amount}`, {
    hint: 'run it again later',
    cause,
    retryable: true,
  });
}

/**
 * For a body without a length and without chunks, which ended with its TLS connection. Such a body is complete only if
 * the server has closed TLS properly (RFC 9112, section 9.8), and Node does not report whether it has. A retry would
 * get the same form again. Because of the subcode, transfer.ts accepts the file if --sha256 or a known total proves it.
 */
export function unprovedEndError({ received }: BodyProgress): FilingsError {
  const reason = `received ${humanBytes(received)} over TLS without a length, so the response may be incomplete`;
  return new FilingsError('integrity', reason, {
    hint: `${ASK_OPERATOR} to send Content-Length or chunks; if you know the SHA-256 of the file, pass it with --sha256`,
    subcode: 'unproved-end',
  });
}

export function invalidHttpError(description: string, cause?: unknown): FilingsError {
  return new FilingsError('integrity', `invalid HTTP response: ${markForRedaction(description)}`, {
    hint: 'check the base URL, and any proxy in between',
    cause,
  });
}

/** The peer, the system or undici (UND_ERR_INFO) closed the connection. */
function isClosedConnection(error: unknown): boolean {
  const closedCodes =
    /^(UND_ERR_SOCKET|UND_ERR_INFO|ECONNRESET|EPROTO|CLOSED_BEFORE_REQUEST)$|^ERR_(SSL|TLS|STREAM|SOCKET)/;
  // A failed system call on the socket can have any code, but always has a `syscall`.
  return closedCodes.test(errnoOf(error) ?? '') || (error as { syscall?: unknown } | null)?.syscall !== undefined;
}
