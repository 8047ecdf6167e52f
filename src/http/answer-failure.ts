import { errnoOf, FilingsError } from '../errors.ts';

/**
 * Turns what ended an exchange before an answer's head was whole into a FilingsError: a head that is not HTTP is
 * `integrity`; silence and resets are `temporary`; what is no failure of the network is not taken for one.
 */
export function answerFailure(error: unknown, url: URL): FilingsError {
  const message = messageOf(error);
  if (message === 'bad response' || message === 'bad upgrade') return notHttp(url, 'an answer nobody asked for', error);
  if (isFieldOverflow(error)) return notHttp(url, 'more than 16 KiB of header fields', error);
  // Of a head with a length the parser says nothing more.
  const words = isLengthMismatch(error) ? '' : parserWords(error);
  if (words !== undefined) return notHttp(url, `its head is broken ${words}`.trim(), error);
  if (!isConnectionError(error)) return ownFailure(error, url);
  return new FilingsError('temporary', `${url.host}: the connection was closed before an answer came`, {
    hint: 'running it again later is enough',
    cause: error,
    retryable: true,
  });
}

/** What is known of a body that did not come to its end. */
export interface Unfinished {
  readonly url: URL;
  readonly received: number;
  readonly expected: number | undefined;
}

/** Turns what ended a body before its end into a FilingsError: broken framing is final, a cut is worth another try. */
export function bodyFailure(error: unknown, body: Unfinished): FilingsError {
  // The parser's words for a connection that ends too early.
  const words = parserWords(error);
  const isCut = words === '(Invalid EOF state)' || isLengthMismatch(error) || isConnectionError(error);
  if (isCut) return truncated(body, error);
  if (isFieldOverflow(error)) return notHttp(body.url, 'more than 16 KiB of fields behind the chunks', error);
  return words === undefined
    ? ownFailure(error, body.url)
    : notHttp(body.url, `its body is broken ${words}`.trim(), error);
}

/** undici has more of a head, or of the fields behind a body, than it takes. */
export function isFieldOverflow(error: unknown): boolean {
  return errnoOf(error) === 'UND_ERR_HEADERS_OVERFLOW';
}

/** A body that ended before its framing said so. Worth another try. */
export function truncated({ url, received, expected }: Unfinished, cause?: unknown): FilingsError {
  const of = expected === undefined ? '' : ` of ${expected}`;
  return new FilingsError('integrity', `${url.host}: truncated: the connection ended after ${received}${of} bytes`, {
    hint: 'running it again later may be enough',
    cause,
    retryable: true,
  });
}

/** A body over TLS that only the connection's end ended: another try would end so, too. */
export function unproved({ url, received }: Unfinished): FilingsError {
  const why = `${received} bytes came over TLS without a length, so nothing tells their end from a cut`;
  return new FilingsError('integrity', `${url.host}: ${why}`, {
    hint: 'the service should send a length or chunks: tell whoever runs it; --sha256 proves a file all the same',
    fault: 'unproved-end',
  });
}

/** An answer that breaks the rules of HTTP/1; `saw` says how. */
export function notHttp(url: URL, saw: string, cause?: unknown): FilingsError {
  return new FilingsError('integrity', `${url.host}: the answer is not sound HTTP: ${saw}`, {
    hint: 'check the base URL, and what stands between here and the service',
    cause,
  });
}

/** Waiting does not mend what goes wrong inside this program. */
function ownFailure(cause: unknown, url: URL): FilingsError {
  const message = messageOf(cause);
  if (cause instanceof RangeError && /memory/i.test(message)) {
    const hint = 'raise the limit on address space (ulimit -v), which a batch system may set: 4 GB are enough';
    return new FilingsError('local_io', `${url.host}: no address space left`, { hint, stopsRun: true, cause });
  }
  const name = cause instanceof Error ? cause.name : typeof cause;
  return new FilingsError('internal', `${url.host}: a defect in the program: ${name}: ${message}`, {
    hint: 'please report it; --verbose shows where it happened',
    cause,
  });
}

/** What the kernel, TLS or the stream says of a connection; undici says itself when the other side has closed it. */
function isConnectionError(error: unknown): boolean {
  const code = errnoOf(error) ?? '';
  if (code === 'UND_ERR_SOCKET' || code === 'UND_ERR_INFO') return true;
  if (/^(ERR_SSL|ERR_TLS|ERR_STREAM|ERR_SOCKET|EPROTO)/.test(code)) return true;
  return code === 'ECONNRESET' || (error as { syscall?: unknown } | null)?.syscall !== undefined;
}

function isLengthMismatch(error: unknown): boolean {
  return errnoOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
}

/** What the parser says in the brackets of its message; undefined where it is not the parser's, which has no code. */
function parserWords(error: unknown): string | undefined {
  const isParsers = (error as { name?: unknown } | null)?.name === 'HTTPParserError';
  return isParsers ? (/\(.*\)/.exec(messageOf(error))?.[0] ?? '') : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
