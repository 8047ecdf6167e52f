import { errnoOf, type Fault, FilingsError, type Hint } from '../errors.ts';

// Translates errors of Node and undici into the errors of this program: a reason, a hint, and whether a retry may help.

/** The code of a connection that was closed before a request was written to it. */
export const CLOSED_BEFORE_REQUEST = 'CLOSED_BEFORE_REQUEST';

const CHECK_ADDRESS = 'check the base URL and the network, then run it again';
const UNTRUSTED =
  'if the authority is your own, name its certificate in NODE_EXTRA_CA_CERTS; checks cannot be switched off';

const NOT_HTTPS = 'check that the base URL is https where https is spoken';

/** The reason and the hint for an errno, or for a code of OpenSSL or Node. The first match counts. */
const REASONS: readonly (readonly [code: RegExp, reason: string, hint: Hint, fault?: Fault])[] = [
  [
    /^(ENOTFOUND|EAI_AGAIN)$/,
    'the name does not resolve',
    'check the base URL, the network and the name server',
    'unresolved-name',
  ],
  [/^ECONNREFUSED$/, 'connection refused', 'check the address and the port: nothing listens there'],
  [/^ETIMEDOUT$/, 'connecting timed out', { advice: 'allow-connecting' }],
  [/^E(HOST|NET)UNREACH$/, 'no route to the host', CHECK_ADDRESS],
  // Also matches an alert of the server about a certificate of ours (`ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED`).
  [/^(ERR_SSL|EPROTO)/, 'the TLS handshake failed', NOT_HTTPS],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    "the server's certificate has expired or is not valid yet",
    'renew the certificate, or set this clock right',
    'certificate',
  ],
  [
    /ALTNAME|^HOSTNAME_MISMATCH$/,
    "the server's certificate is for another name",
    'check the base URL: the certificate must name its host',
    'certificate',
  ],
  [/CERT|SIGNATURE|ISSUER/, "the server's certificate is not from a trusted authority", UNTRUSTED, 'certificate'],
  [
    /^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED)$/,
    "the server's certificate is not valid",
    'whoever runs the service must replace the certificate',
    'certificate',
  ],
  [/^ERR_TLS/, 'the TLS handshake failed', NOT_HTTPS],
];

/** Returns `local_io` for too many open files, otherwise `temporary`. An error of a certificate is not retried. */
export function connectError(error: unknown, url: URL, proxy: URL | undefined): FilingsError {
  // If a host has several addresses (RFC 8305), there is one error for each.
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const code = causes.map(errnoOf).find((each) => each !== undefined) ?? '';
  const subject = { host: url.host, proxy: proxy?.host };
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new FilingsError('local_io', 'cannot connect: too many open files', {
      subject,
      hint: { advice: 'fewer-jobs' },
      stopsRun: true,
      cause: error,
    });
  }
  const unknown = [/$/, `cannot connect (${code || error})`, CHECK_ADDRESS] as const;
  const [, reason, hint, fault] = REASONS.find(([pattern]) => pattern.test(code)) ?? unknown;
  const certificate = fault === 'certificate';
  const checkProxy = 'check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY to go without a proxy';
  return new FilingsError('temporary', reason, {
    subject,
    hint: proxy && !certificate ? checkProxy : hint,
    cause: error,
    connected: false,
    retryable: !certificate,
    fault,
  });
}

/** The part of a body that arrived, in bytes. */
export interface PartialBody {
  readonly url: URL;
  readonly received: number;
  readonly expected: number | undefined;
}

/**
 * Returns the error for an exchange that ended early, in its head if there is no `body`. Invalid HTTP is final, a
 * closed connection may be retried, and anything else is a defect of the program.
 */
export function exchangeError(error: unknown, url: URL, body: PartialBody | undefined): FilingsError {
  const message = error instanceof Error ? error.message : String(error);
  const code = errnoOf(error);
  if (isFieldOverflow(error)) return invalidHttpError(url, 'more than 16 KiB of header fields', error);
  const isMismatch = code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  // The parser's errors have no code.
  const parserReason =
    (error as { name?: unknown } | null)?.name === 'HTTPParserError' && /\(.*\)|$/.exec(message)?.[0];
  const isCut = isMismatch || parserReason === '(Invalid EOF state)';
  if (body && (isCut || isConnectionError(error))) return truncatedError(body, error);
  if (isMismatch) return invalidHttpError(url, 'its head is broken', error);
  if (parserReason !== false)
    return invalidHttpError(url, `its ${body ? 'body' : 'head'} is broken ${parserReason}`.trim(), error);
  if (!isConnectionError(error)) return ownFailure(error, message, url);
  return new FilingsError('temporary', 'the connection was closed before an answer came', {
    subject: { host: url.host },
    hint: 'run it again later',
    cause: error,
    retryable: true,
  });
}

/** Returns whether the fields of a head, or the trailer fields after a body, were too long. */
export function isFieldOverflow(error: unknown): boolean {
  return errnoOf(error) === 'UND_ERR_HEADERS_OVERFLOW';
}

/** Returns the error for a body that ended early. It may be retried. */
export function truncatedError({ url, received, expected }: PartialBody, cause?: unknown): FilingsError {
  const of = expected === undefined ? '' : ` of ${expected}`;
  return new FilingsError('integrity', `truncated: the connection ended after ${received}${of} bytes`, {
    subject: { host: url.host },
    hint: 'run it again later',
    cause,
    retryable: true,
  });
}

/** Returns the error for a body whose end proves nothing. A retry would have the same result. */
export function unprovedEndError({ url, received }: PartialBody): FilingsError {
  const reason = `${received} bytes came over TLS without a length, so nothing tells their end from a cut`;
  return new FilingsError('integrity', reason, {
    subject: { host: url.host },
    hint: { advice: 'prove-by-hash' },
    fault: 'unproved-end',
  });
}

/** Returns the error for a response that is not valid HTTP. */
export function invalidHttpError(url: URL, description: string, cause?: unknown): FilingsError {
  return new FilingsError('integrity', `the answer is not sound HTTP: ${description}`, {
    subject: { host: url.host },
    hint: 'check the base URL, and what stands between here and the service',
    cause,
  });
}

/** Returns the error for an exception that neither the connection nor the response explains. */
function ownFailure(cause: unknown, message: string, { host }: URL): FilingsError {
  const subject = { host };
  if (cause instanceof RangeError && /memory/i.test(message)) {
    const hint = 'raise the limit on address space (ulimit -v), which a batch system may set: 4 GB are enough';
    return new FilingsError('local_io', 'no address space left', { subject, hint, stopsRun: true, cause });
  }
  const name = cause instanceof Error ? cause.name : typeof cause;
  return new FilingsError('internal', `a defect in the program: ${name}: ${message}`, {
    subject,
    hint: { advice: 'report-defect' },
    cause,
  });
}

/** Returns whether the peer or the system closed the connection. undici has codes of its own for it. */
function isConnectionError(error: unknown): boolean {
  const code = errnoOf(error) ?? '';
  const isNamed = /^(UND_ERR_SOCKET|UND_ERR_INFO|ECONNRESET)$|^(ERR_SSL|ERR_TLS|ERR_STREAM|ERR_SOCKET|EPROTO)/.test(
    code,
  );
  return isNamed || code === CLOSED_BEFORE_REQUEST || (error as { syscall?: unknown } | null)?.syscall !== undefined;
}
