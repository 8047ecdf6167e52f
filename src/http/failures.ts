import { errnoOf, type Fault, FilingsError, type Hint } from '../errors.ts';

const CHECK_ADDRESS = 'check the base URL and the network, then run it again';
const UNTRUSTED =
  'if the authority is your own, name its certificate in NODE_EXTRA_CA_CERTS; checks cannot be switched off';

const NOT_HTTPS = 'check that the base URL is https where https is spoken';

/** By errno, OpenSSL or Node code. */
const REASONS: readonly (readonly [code: RegExp, why: string, hint: Hint, fault?: Fault])[] = [
  [
    /^(ENOTFOUND|EAI_AGAIN)$/,
    'the name does not resolve',
    'check the base URL, the network and the name server',
    'unresolved-name',
  ],
  [/^ECONNREFUSED$/, 'connection refused', 'check the address and the port: nothing listens there'],
  [/^ETIMEDOUT$/, 'connecting timed out', { advice: 'allow-connecting' }],
  [/^E(HOST|NET)UNREACH$/, 'no route to the host', CHECK_ADDRESS],
  // Also if the server sends an alert about a certificate of ours (`ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED`).
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

/** `temporary`, but too many open files; a certificate's fault is final. */
export function connectFailure(error: unknown, url: URL, proxy: URL | undefined): FilingsError {
  // Happy eyeballs give one error an address.
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const code = causes.map(errnoOf).find((found) => found !== undefined) ?? '';
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
  const [, why, hint, fault] = REASONS.find(([pattern]) => pattern.test(code)) ?? unknown;
  const certificate = fault === 'certificate';
  const checkProxy = 'check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY to go without a proxy';
  return new FilingsError('temporary', why, {
    subject,
    hint: proxy && !certificate ? checkProxy : hint,
    cause: error,
    connected: false,
    retryable: !certificate,
    fault,
  });
}

export interface Unfinished {
  readonly url: URL;
  readonly received: number;
  readonly expected: number | undefined;
}

/**
 * What ended an exchange, in the head where there is no `body`. What is not HTTP is final, a closed connection is
 * worth another try, and a defect is told as one.
 */
export function exchangeFailure(error: unknown, url: URL, body: Unfinished | undefined): FilingsError {
  const message = error instanceof Error ? error.message : String(error);
  const code = errnoOf(error);
  if (isFieldOverflow(error)) return notHttp(url, 'more than 16 KiB of header fields', error);
  const isMismatch = code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  // The parser's errors have no code.
  const words = (error as { name?: unknown } | null)?.name === 'HTTPParserError' && /\(.*\)|$/.exec(message)?.[0];
  const isCut = isMismatch || words === '(Invalid EOF state)';
  if (body && (isCut || isConnectionError(error))) return truncated(body, error);
  if (isMismatch) return notHttp(url, 'its head is broken', error);
  if (words !== false) return notHttp(url, `its ${body ? 'body' : 'head'} is broken ${words}`.trim(), error);
  if (!isConnectionError(error)) return ownFailure(error, message, url);
  return new FilingsError('temporary', 'the connection was closed before an answer came', {
    subject: { host: url.host },
    hint: 'run it again later',
    cause: error,
    retryable: true,
  });
}

/** Of a head, or behind a body. */
export function isFieldOverflow(error: unknown): boolean {
  return errnoOf(error) === 'UND_ERR_HEADERS_OVERFLOW';
}

/** Worth another try. */
export function truncated({ url, received, expected }: Unfinished, cause?: unknown): FilingsError {
  const of = expected === undefined ? '' : ` of ${expected}`;
  return new FilingsError('integrity', `truncated: the connection ended after ${received}${of} bytes`, {
    subject: { host: url.host },
    hint: 'run it again later',
    cause,
    retryable: true,
  });
}

/** Another try would end so, too. */
export function unproved({ url, received }: Unfinished): FilingsError {
  const why = `${received} bytes came over TLS without a length, so nothing tells their end from a cut`;
  return new FilingsError('integrity', why, {
    subject: { host: url.host },
    hint: { advice: 'prove-by-hash' },
    fault: 'unproved-end',
  });
}

export function notHttp(url: URL, saw: string, cause?: unknown): FilingsError {
  return new FilingsError('integrity', `the answer is not sound HTTP: ${saw}`, {
    subject: { host: url.host },
    hint: 'check the base URL, and what stands between here and the service',
    cause,
  });
}

/** Waiting does not mend it. */
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

/** undici says itself when the other side has closed a connection. */
function isConnectionError(error: unknown): boolean {
  const code = errnoOf(error) ?? '';
  const isNamed = /^(UND_ERR_SOCKET|UND_ERR_INFO|ECONNRESET)$|^(ERR_SSL|ERR_TLS|ERR_STREAM|ERR_SOCKET|EPROTO)/.test(
    code,
  );
  return isNamed || (error as { syscall?: unknown } | null)?.syscall !== undefined;
}
