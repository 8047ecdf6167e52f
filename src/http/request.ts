import { onAbort } from '../abort.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { inSeconds } from '../text.ts';
import { Body } from './body.ts';
import type { Connection, Connections } from './connections.ts';
import { exchangeFailure, isFieldOverflow, notHttp, truncated, type Unfinished, unproved } from './failures.ts';
import { type Framing, framingOf, type HeaderFields, readStart } from './head.ts';
import { proxyFields } from './proxy.ts';
import type { Watched } from './watchdog.ts';

/** Status lines are shorter. */
const PIECE_BYTES = 256;

interface GetRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: HeaderFields;
  /** Of Content-Length; undefined when the body is chunked or ends with the connection. */
  readonly length: number | undefined;
  /** Only the end of the connection ends the body. */
  readonly untilClose: boolean;
  readonly body: Body;
  /** Drops the connection when the body was not taken to its end. */
  discard(): void;
}

/**
 * No redirect, no retry, its framing checked (RFC 9112 section 6). `prepare` gives each request just before it goes out.
 * Throws `temporary` when no answer comes, `integrity` for one that is not sound HTTP, the signal's reason, what
 * `prepare` does. The body fails with "truncated" when it ends early.
 */
export async function get(connections: Connections, prepare: () => Promise<GetRequest>): Promise<Answer> {
  for (;;) {
    const request = await prepare();
    const connection = await connections.acquire(request.url, request.signal);
    const { reused } = connection;
    try {
      return await new Exchange(connections, connection, request).begin();
    } catch (error) {
      // A server may close an idle connection as the request goes out (RFC 9112 section 9.3.1).
      if (!reused || !closedUnanswered(error)) throw error;
    }
  }
}

function closedUnanswered(error: unknown): boolean {
  const code = error instanceof FilingsError ? errnoOf(error.cause) : undefined;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

class Exchange {
  readonly #connections: Connections;
  readonly #connection: Connection;
  readonly #request: GetRequest;
  readonly #watched: Watched;
  readonly #body: Body;
  #head: { resolve: (answer: Answer) => void; reject: (error: unknown) => void } | undefined;
  #framing: Framing = { kind: 'until-close' };
  #start = '';
  #received = 0;
  #over = false;
  #forget = () => {};

  constructor(connections: Connections, connection: Connection, request: GetRequest) {
    this.#connections = connections;
    this.#connection = connection;
    this.#request = request;
    this.#watched = connections.watchdog.watch(() => this.#abandon(this.#idleError()));
    this.#body = new Body(connection.socket, this.#watched);
  }

  /** Settles with the answer's head. */
  begin(): Promise<Answer> {
    const { signal, url, headers } = this.#request;
    const { client, proxy, socket } = this.#connection;
    return new Promise((resolve, reject) => {
      this.#head = { resolve, reject };
      this.#forget = onAbort(signal, (reason) => this.#abandon(reason));
      if (this.#over) return;
      socket.inspect = (bytes) => this.#onFirstBytes(bytes);
      client.dispatch(
        {
          method: 'GET',
          // A proxy for plain http takes the whole URL (RFC 9112 section 3.2.2).
          path: `${proxy ? url.origin : ''}${url.pathname}${url.search}`,
          headers: { ...headers, ...(proxy && proxyFields(proxy)) },
        },
        {
          onRequestStart: () => {},
          onResponseStart: (_controller, status, fields) => this.#onHead(status, fields),
          onResponseData: (_controller, chunk) => this.#onData(chunk),
          onResponseEnd: () => this.#onEnd(),
          onResponseError: (_controller, error) =>
            this.#abandon(exchangeFailure(error, url, this.#head ? undefined : this.#unfinished)),
        },
      );
    });
  }

  /** Interim answers are not for the parser: it fails at a 100 (RFC 9110 section 15.2). */
  #onFirstBytes(bytes: Buffer): Buffer | null {
    // A body behind the head is not made a text.
    for (let at = 0; at < bytes.length; ) {
      const { fault, final, rest } = readStart(this.#start + bytes.toString('latin1', at, at + PIECE_BYTES));
      at = Math.min(at + PIECE_BYTES, bytes.length);
      this.#start = rest;
      if (fault) {
        this.#abandon(notHttp(this.#request.url, fault));
        return null;
      }
      if (!final) continue;
      this.#connection.socket.inspect = undefined;
      if (rest.length <= at) return bytes.subarray(at - rest.length);
      return Buffer.concat([Buffer.from(rest, 'latin1'), bytes.subarray(at)]);
    }
    return null;
  }

  #onHead(status: number, headers: HeaderFields): void {
    if (this.#over) return;
    // The body has the whole time anew.
    this.#watched.restart();
    this.#framing = framingOf(headers);
    if (this.#framing.kind === 'unsound') {
      this.#abandon(notHttp(this.#request.url, this.#framing.why));
      return;
    }
    this.#head?.resolve({
      status,
      headers,
      length: this.#unfinished.expected,
      untilClose: this.#framing.kind === 'until-close',
      body: this.#body,
      discard: () => this.#abandon(new FilingsError('internal', 'the rest of the body was not wanted')),
    });
    this.#head = undefined;
  }

  #onData(chunk: Buffer): void {
    if (this.#over) return;
    this.#received += chunk.length;
    this.#watched.fed(chunk.length);
    this.#body.push(chunk);
  }

  #onEnd(): void {
    if (this.#over) return;
    const { url } = this.#request;
    const { errored } = this.#connection.socket;
    // The parser goes on to the end of what it was given, though the fields behind a body are too many.
    const error = isFieldOverflow(errored) ? exchangeFailure(errored, url, this.#unfinished) : this.#untilCloseError();
    if (error) {
      this.#abandon(error);
      return;
    }
    this.#close();
    this.#connections.release(url, this.#connection);
    this.#body.end();
  }

  /** Returns why the end of a body that only the connection ended may be a cut (RFC 9112 section 9.8). */
  #untilCloseError(): FilingsError | undefined {
    const { secured, socket } = this.#connection;
    if (this.#framing.kind !== 'until-close') return undefined;
    if (secured) return unproved(this.#unfinished);
    if (!socket.wasReset) return undefined;
    return truncated(this.#unfinished).with({ fault: 'unproved-end' });
  }

  get #unfinished(): Unfinished {
    const expected = this.#framing.kind === 'length' ? this.#framing.length : undefined;
    return { url: this.#request.url, received: this.#received, expected };
  }

  #abandon(error: unknown): void {
    if (this.#over) return;
    this.#close();
    this.#head?.reject(error);
    this.#head = undefined;
    this.#body.end(error);
    this.#connection.socket.destroy();
  }

  #close(): void {
    this.#over = true;
    this.#watched.end();
    this.#forget();
    // The connection may carry the next request.
    this.#connection.socket.release();
  }

  #idleError(): FilingsError {
    const limit = inSeconds(this.#connections.timeouts.idleTimeout);
    const what = this.#head ? 'no answer' : 'fewer than 1,000 new bytes';
    return new FilingsError('temporary', `timed out: ${what} in ${limit}`, {
      subject: { host: this.#request.url.host },
      hint: { advice: 'allow-idling' },
      retryable: true,
    });
  }
}
