// One GET. The head of the response is checked here, and the caller reads the body later. Redirects and retries belong
// to the callers.
import { onAbort } from '../abort.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { exactDuration, grouped } from '../text.ts';
import { Body } from './body.ts';
import type { Connection, Connections } from './connections.ts';
import {
  type BodyProgress,
  CLOSED_BEFORE_REQUEST,
  exchangeError,
  invalidHttpError,
  isFieldOverflow,
  truncatedError,
  unprovedEndError,
} from './failures.ts';
import {
  type Framing,
  findFramingFault,
  type HeaderFields,
  MAX_HEAD_BYTES,
  parseFraming,
  skipInterimResponses,
} from './head.ts';
import { makeProxyHeaders, proxyRefusalError } from './proxy.ts';
import { type IdleTimer, MIN_ACTIVE_BYTES } from './watchdog.ts';

/**
 * The status line is usually in the first slice. The first read may also contain half a megabyte of the body, which
 * would be decoded for nothing if the whole read were checked at once.
 */
const SLICE_BYTES = 256;
const CLOSED_CONNECTION_CODES = [CLOSED_BEFORE_REQUEST, 'UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

export interface GetRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly contentLength: number | undefined;
  readonly endsWithConnection: boolean;
  readonly body: Body;
  /**
   * Must be called if the body is not read to its end. Closes the connection, but has no effect if the whole response
   * has arrived, because another request may already use the connection.
   */
  discard(): void;
}

/**
 * Returns undefined if the request must be sent again: it was sent on a reused connection, which the server then closed
 * without a response. A server may close an idle connection at any moment, and a GET may be repeated (RFC 9112, section
 * 9.3.1).
 */
export async function get(connections: Connections, request: GetRequest): Promise<HttpResponse | undefined> {
  for (;;) {
    const connection = await connections.acquire(request.url, request.signal);
    try {
      return await new Exchange(connections, connection, request).begin();
    } catch (error) {
      // The `cause` is the error of Node or undici.
      const code = error instanceof FilingsError ? errnoOf(error.cause) : undefined;
      if (!connection.isReused || code === undefined || !CLOSED_CONNECTION_CODES.includes(code)) throw error;
      // Otherwise nothing was sent. The loop ends with a new connection at the latest.
      if (code !== CLOSED_BEFORE_REQUEST) return undefined;
    }
  }
}

class Exchange {
  readonly #connections: Connections;
  readonly #connection: Connection;
  readonly #request: GetRequest;
  readonly #timer: IdleTimer;
  readonly #body: Body;
  /** Undefined as soon as the head has arrived. */
  #headSettlers: { resolve: (response: HttpResponse) => void; reject: (error: unknown) => void } | undefined;
  #framing: Framing = {};
  /** The beginning of a head that is not complete yet, in latin1, where each character is one byte. */
  #unchecked = '';
  /** What undici got before it had read the head. For a better message than its own. */
  #headReads: Buffer[] = [];
  #receivedBytes = 0;
  /** undici may still call the handlers after the end. */
  #isFinished = false;
  #unsubscribe = () => {};

  constructor(connections: Connections, connection: Connection, request: GetRequest) {
    this.#connections = connections;
    this.#connection = connection;
    this.#request = request;
    this.#timer = connections.watchdog.watch(() => this.#fail(this.#idleError()));
    this.#body = new Body(connection.socket, this.#timer, connections.watchdog);
  }

  begin(): Promise<HttpResponse> {
    const { signal, url, headers } = this.#request;
    const { client, proxy, socket } = this.#connection;
    return new Promise((resolve, reject) => {
      this.#headSettlers = { resolve, reject };
      this.#unsubscribe = onAbort(signal, (reason) => this.#abort(reason));
      // `onAbort` has ended the exchange at once if the signal had aborted before.
      if (this.#isFinished) return;
      socket.filterHead = (bytes) => this.#filterHead(bytes);
      client.dispatch(
        {
          method: 'GET',
          // A proxy for plain HTTP needs the whole URL (RFC 9112, section 3.2.2). `proxy` is undefined for a tunnel, so
          // the service behind one never gets the whole URL or the proxy's credentials.
          path: `${proxy ? url.origin : ''}${url.pathname}${url.search}`,
          headers: { ...headers, ...(proxy && makeProxyHeaders(proxy)) },
        },
        {
          // Without this method, undici would expect a handler of its older form.
          onRequestStart: () => {},
          onResponseStart: (_controller, status, headers) => this.#onHead(status, headers),
          onResponseData: (_controller, chunk) => this.#onData(chunk),
          onResponseEnd: () => this.#onEnd(),
          onResponseError: (_controller, error) => this.#fail(this.#toError(error)),
        },
      );
    });
  }

  /**
   * Gets the bytes of each read before undici does, until it has read the head. Drops interim responses: returns null
   * until the final status line has arrived.
   */
  #filterHead(bytes: Buffer): Buffer | null {
    const head = this.#headReads.length > 0 ? bytes : this.#dropInterimHeads(bytes);
    if (head) this.#headReads.push(head);
    return head;
  }

  #dropInterimHeads(bytes: Buffer): Buffer | null {
    for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
      const end = Math.min(start + SLICE_BYTES, bytes.length);
      const text = this.#unchecked + bytes.toString('latin1', start, end);
      const { reason, isFinal, rest } = skipInterimResponses(text);
      this.#unchecked = rest;
      if (reason !== undefined) {
        this.#fail(invalidHttpError(reason));
        return null;
      }
      // Usually all of `rest` lies within `bytes`. Otherwise the status line began in an earlier read.
      if (isFinal && rest.length <= end) return bytes.subarray(end - rest.length);
      if (isFinal) return Buffer.concat([Buffer.from(rest, 'latin1'), bytes.subarray(end)]);
    }
    return null;
  }

  #toError(error: unknown): FilingsError {
    if (!this.#headSettlers) return exchangeError(error, this.#bodyProgress);
    const start = Buffer.concat(this.#headReads).toString('latin1', 0, MAX_HEAD_BYTES);
    return exchangeError(error, undefined, findFramingFault(start));
  }

  #onHead(status: number, headers: HeaderFields): void {
    if (this.#isFinished) return;
    this.#timer.restart();
    this.#connection.socket.filterHead = undefined;
    this.#headReads = [];
    this.#framing = parseFraming(headers);
    const { proxy } = this.#connection;
    const { reason, length, endsWithConnection = false } = this.#framing;
    if (reason !== undefined) {
      this.#fail(invalidHttpError(reason));
      return;
    }
    // Without a proxy, or through a tunnel, a 407 is an error of the service.
    if (status === 407 && proxy) {
      this.#fail(proxyRefusalError(proxy, this.#request.url, status, [headers['proxy-authenticate']].flat().join()));
      return;
    }
    this.#headSettlers?.resolve({
      status,
      headers,
      contentLength: length,
      endsWithConnection,
      body: this.#body,
      // Never shown. It ends a `read` that is waiting, so that `readErrorBytes` stops when the body takes too long.
      discard: () => this.#abort(new Error('the response was discarded')),
    });
    this.#headSettlers = undefined;
  }

  #onData(chunk: Buffer): void {
    if (this.#isFinished) return;
    this.#receivedBytes += chunk.length;
    this.#timer.addBytes(chunk.length);
    this.#body.push(chunk);
  }

  #onEnd(): void {
    if (this.#isFinished) return;
    const { errored } = this.#connection.socket;
    // If the trailer fields were too long, undici destroys the socket with an error, but still reports the end of the
    // body.
    const error = isFieldOverflow(errored) ? exchangeError(errored, this.#bodyProgress) : this.#findEndError();
    if (error) {
      this.#fail(error);
      return;
    }
    this.#finish();
    // Right even if the server closes the connection now: the next `get` acquires another one.
    this.#connections.release(this.#request.url, this.#connection);
    this.#body.end();
  }

  /**
   * It looks upside down that a body that ends with the connection is refused over TLS but accepted over plain HTTP.
   * Plain HTTP has no better proof than an orderly end (FIN), so the file is accepted and reported as unverified. Over
   * TLS the body is complete only if a closure alert has arrived (RFC 9112, section 9.8), but Node reports a connection
   * that was cut without the alert in the same way. So over TLS, a cut would be taken for the end.
   */
  #findEndError(): FilingsError | undefined {
    const { usesTls, socket } = this.#connection;
    if (!this.#framing.endsWithConnection) return undefined;
    if (usesTls) return unprovedEndError(this.#bodyProgress);
    if (!socket.wasReset) return undefined;
    // The body may still be complete, which --sha256 or the total of a range can prove. Hence the subcode.
    return truncatedError(this.#bodyProgress).with({ subcode: 'unproved-end' });
  }

  get #bodyProgress(): BodyProgress {
    return { received: this.#receivedBytes, expected: this.#framing.length };
  }

  #fail(error: FilingsError): void {
    this.#abort(error.with({ subject: { host: this.#request.url.host } }));
  }

  #abort(error: unknown): void {
    if (this.#isFinished) return;
    this.#finish();
    this.#headSettlers?.reject(error);
    this.#headSettlers = undefined;
    this.#body.end(error);
    this.#connection.socket.destroy();
  }

  /** Leaves the connection open: the caller releases or destroys it. */
  #finish(): void {
    this.#isFinished = true;
    this.#timer.end();
    this.#unsubscribe();
    // The body may have paused the socket. The next request on this connection may begin before the reader has taken
    // the last chunks, and needs the socket to run.
    this.#connection.socket.resumeReading();
  }

  #idleError(): FilingsError {
    const limit = exactDuration(this.#connections.timeouts.idleTimeout);
    const received = this.#headSettlers ? 'no response' : `fewer than ${grouped(MIN_ACTIVE_BYTES)} new bytes`;
    const hint = 'run it again later, or allow more time with --idle-timeout';
    return new FilingsError('temporary', `timed out: ${received} in ${limit}`, { hint, retryable: true });
  }
}
