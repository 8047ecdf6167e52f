// One GET over one connection, as an exchange: a request, a checked head, a body. Redirects and retries are done in the
// layers above.
import { onAbort } from '../abort.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { inSeconds } from '../text.ts';
import { Body } from './body.ts';
import type { Connection, Connections } from './connections.ts';
import {
  CLOSED_BEFORE_REQUEST,
  exchangeError,
  invalidHttpError,
  isFieldOverflow,
  type PartialBody,
  truncatedError,
  unprovedEndError,
} from './failures.ts';
import { type Framing, framingOf, type HeaderFields, readStart } from './head.ts';
import { proxyFields, proxyRefusal } from './proxy.ts';
import type { IdleTimer } from './watchdog.ts';

/** The number of bytes that are checked at a time. Status lines are shorter. */
const SLICE_BYTES = 256;

interface GetRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A response whose head was checked and whose body can be read. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  /** The value of Content-Length in bytes. Undefined if the body is chunked or ends with the connection. */
  readonly length: number | undefined;
  /** Whether the body has no length and ends when the connection is closed. */
  readonly isUntilClose: boolean;
  readonly body: Body;
  /** Destroys the connection, unless the body was read to its end. */
  discard(): void;
}

/**
 * Returns the response to a GET request, its framing checked (RFC 9112, section 6). `prepare` returns each request just
 * before it is sent. Throws `temporary` if there is no response, `integrity` if it is not valid HTTP, the signal's
 * reason, and the errors of `prepare`. Reading the body throws `integrity` if the body is truncated.
 */
export async function get(connections: Connections, prepare: () => Promise<GetRequest>): Promise<HttpResponse> {
  let request = await prepare();
  for (;;) {
    const connection = await connections.acquire(request.url, request.signal);
    const { isReused } = connection;
    try {
      return await new Exchange(connections, connection, request).begin();
    } catch (error) {
      // A server may close an idle connection as the request is sent (RFC 9112, section 9.3.1).
      if (!isReused || !isClosedWithoutResponse(error)) throw error;
      if (!isNotSent(error)) request = await prepare();
    }
  }
}

function isClosedWithoutResponse(error: unknown): boolean {
  const code = causeCode(error);
  return isNotSent(error) || code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

/** Whether the connection was closed before undici wrote the request, so that no request was sent. */
function isNotSent(error: unknown): boolean {
  return causeCode(error) === CLOSED_BEFORE_REQUEST;
}

function causeCode(error: unknown): string | undefined {
  return error instanceof FilingsError ? errnoOf(error.cause) : undefined;
}

class Exchange {
  readonly #connections: Connections;
  readonly #connection: Connection;
  readonly #request: GetRequest;
  readonly #timer: IdleTimer;
  readonly #body: Body;
  #head: { resolve: (response: HttpResponse) => void; reject: (error: unknown) => void } | undefined;
  #framing: Framing = { kind: 'until-close' };
  #start = '';
  #receivedBytes = 0;
  #isOver = false;
  #unsubscribe = () => {};

  constructor(connections: Connections, connection: Connection, request: GetRequest) {
    this.#connections = connections;
    this.#connection = connection;
    this.#request = request;
    this.#timer = connections.watchdog.watch(() => this.#fail(this.#idleError()));
    this.#body = new Body(connection.socket, this.#timer);
  }

  /** Sends the request. Returns the response as soon as its head is read. */
  begin(): Promise<HttpResponse> {
    const { signal, url, headers } = this.#request;
    const { client, proxy, socket } = this.#connection;
    return new Promise((resolve, reject) => {
      this.#head = { resolve, reject };
      this.#unsubscribe = onAbort(signal, (reason) => this.#abandon(reason));
      if (this.#isOver) return;
      socket.inspect = (bytes) => this.#onFirstBytes(bytes);
      client.dispatch(
        {
          method: 'GET',
          // A proxy for plain HTTP needs the whole URL (RFC 9112, section 3.2.2).
          path: `${proxy ? url.origin : ''}${url.pathname}${url.search}`,
          headers: { ...headers, ...(proxy && proxyFields(proxy)) },
        },
        {
          onRequestStart: () => {},
          onResponseStart: (_controller, status, fields) => this.#onHead(status, fields),
          onResponseData: (_controller, chunk) => this.#onData(chunk),
          onResponseEnd: () => this.#onEnd(),
          onResponseError: (_controller, error) =>
            this.#fail(exchangeError(error, this.#head ? undefined : this.#partialBody)),
        },
      );
    });
  }

  /** Removes interim responses (RFC 9110, section 15.2), because the parser fails at a status of 100. */
  #onFirstBytes(bytes: Buffer): Buffer | null {
    // The slices are short, so that a body after the head is not decoded.
    for (let at = 0; at < bytes.length; ) {
      const { fault, isFinal, rest } = readStart(this.#start + bytes.toString('latin1', at, at + SLICE_BYTES));
      at = Math.min(at + SLICE_BYTES, bytes.length);
      this.#start = rest;
      if (fault) {
        this.#fail(invalidHttpError(fault));
        return null;
      }
      if (!isFinal) continue;
      this.#connection.socket.inspect = undefined;
      if (rest.length <= at) return bytes.subarray(at - rest.length);
      return Buffer.concat([Buffer.from(rest, 'latin1'), bytes.subarray(at)]);
    }
    return null;
  }

  #onHead(status: number, headers: HeaderFields): void {
    if (this.#isOver) return;
    // The head was a sign of life.
    this.#timer.restart();
    this.#framing = framingOf(headers);
    const { proxy } = this.#connection;
    if (this.#framing.kind === 'invalid') {
      this.#fail(invalidHttpError(this.#framing.reason));
      return;
    }
    if (status === 407 && proxy) {
      this.#fail(proxyRefusal(proxy, this.#request.url, status, [headers['proxy-authenticate']].flat().join()));
      return;
    }
    this.#head?.resolve({
      status,
      headers,
      length: this.#partialBody.expected,
      isUntilClose: this.#framing.kind === 'until-close',
      body: this.#body,
      discard: () => this.#abandon(new FilingsError('internal', 'the rest of the body was not wanted')),
    });
    this.#head = undefined;
  }

  #onData(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#receivedBytes += chunk.length;
    this.#timer.addBytes(chunk.length);
    this.#body.push(chunk);
  }

  #onEnd(): void {
    if (this.#isOver) return;
    const { errored } = this.#connection.socket;
    // The parser reports the end of its data even if the trailer fields were too long.
    const error = isFieldOverflow(errored) ? exchangeError(errored, this.#partialBody) : this.#untilCloseError();
    if (error) {
      this.#fail(error);
      return;
    }
    this.#close();
    this.#connections.release(this.#request.url, this.#connection);
    this.#body.end();
  }

  /** Returns why the end of a body that only the connection ended may be a cut (RFC 9112, section 9.8). */
  #untilCloseError(): FilingsError | undefined {
    const { isSecure, socket } = this.#connection;
    if (this.#framing.kind !== 'until-close') return undefined;
    if (isSecure) return unprovedEndError(this.#partialBody);
    if (!socket.wasReset) return undefined;
    return truncatedError(this.#partialBody).with({ fault: 'unproved-end' });
  }

  get #partialBody(): PartialBody {
    const expected = this.#framing.kind === 'length' ? this.#framing.length : undefined;
    return { received: this.#receivedBytes, expected };
  }

  /** Ends the exchange by an error of the network or of the response. */
  #fail(error: FilingsError): void {
    this.#abandon(error.with({ subject: { host: this.#request.url.host } }));
  }

  #abandon(error: unknown): void {
    if (this.#isOver) return;
    this.#close();
    this.#head?.reject(error);
    this.#head = undefined;
    this.#body.end(error);
    this.#connection.socket.destroy();
  }

  #close(): void {
    this.#isOver = true;
    this.#timer.end();
    this.#unsubscribe();
    // The connection may carry the next request.
    this.#connection.socket.resumeReading();
  }

  #idleError(): FilingsError {
    const limit = inSeconds(this.#connections.timeouts.idleTimeout);
    const missing = this.#head ? 'no response' : 'fewer than 1,000 new bytes';
    const hint = 'run it again later, or allow more time with --idle-timeout';
    return new FilingsError('temporary', `timed out: ${missing} in ${limit}`, { hint, retryable: true });
  }
}
