import { errnoOf, FilingsError } from '../../errors.ts';
import { inSeconds } from '../../text.ts';
import type { Connection } from '../connection/connections.ts';
import { proxyAuthorization } from '../connection/tunnel.ts';
import { answerFailure, bodyFailure, isFieldOverflow, truncated, type Unfinished, unproved } from './answer-failure.ts';
import { Body } from './body.ts';
import { type Framing, framingOf } from './framing.ts';
import type { Answer, GetRequest, HeaderFields } from './messages.ts';
import { Watchdog } from './watchdog.ts';

/** One request on one connection, from its first line to the last byte of the answer's body. */
export class Conversation {
  readonly #connection: Connection;
  readonly #request: GetRequest;
  readonly #release: () => void;
  readonly #body: Body;
  readonly #watchdog: Watchdog;
  #settleHead: { resolve: (answer: Answer) => void; reject: (error: unknown) => void } | undefined;
  #framing: Framing = { kind: 'until-close' };
  #received = 0;
  #reset = false;
  #over = false;

  /** `release` is called when the connection may carry another request. */
  constructor(connection: Connection, request: GetRequest, release: () => void) {
    this.#connection = connection;
    this.#request = request;
    this.#release = release;
    this.#watchdog = new Watchdog(request.idleTimeout, request.monotonic, () => this.#abandon(this.#idleError()));
    this.#body = new Body({
      hold: () => this.#hold(),
      release: () => this.#letFlow(),
      recycle: (chunks) => connection.intake.recycle(chunks),
    });
  }

  /** Sends the request; settles with the answer's head. */
  begin(): Promise<Answer> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      this.#settleHead = { resolve, reject };
      if (request.signal.aborted) {
        this.#abandon(request.signal.reason);
        return;
      }
      // By hand: the connection must be given up in the very turn in which the signal aborts.
      request.signal.addEventListener('abort', this.#onAbort, { once: true });
      this.#connection.socket.prependListener('error', this.#onSocketError);
      this.#connection.intake.expectAnswer();
      this.#connection.client.dispatch(
        { method: 'GET', path: this.#target(), headers: { ...request.headers, ...this.#proxyHeaders() } },
        {
          onRequestStart: () => {},
          onResponseStart: (_controller, status, headers) => this.#onHead(status, headers),
          onResponseData: (_controller, chunk) => this.#onData(chunk),
          onResponseEnd: () => this.#onEnd(),
          onResponseError: (_controller, error) => this.#onError(error),
        },
      );
    });
  }

  /** A proxy for plain http takes the whole URL (RFC 9112 section 3.2.2). */
  #target(): string {
    const { url } = this.#request;
    return this.#isForwarded() ? `${url.origin}${url.pathname}${url.search}` : `${url.pathname}${url.search}`;
  }

  #isForwarded(): boolean {
    return this.#connection.proxy !== undefined && this.#request.url.protocol === 'http:';
  }

  #proxyHeaders(): Record<string, string> {
    const { proxy } = this.#connection;
    const authorization = proxy && this.#isForwarded() ? proxyAuthorization(proxy) : undefined;
    return authorization ? { 'proxy-authorization': authorization } : {};
  }

  #onHead(status: number, headers: HeaderFields): void {
    if (this.#over || status < 200) return;
    // The body has the whole time anew.
    this.#watchdog.restart();
    this.#framing = framingOf(headers);
    if (this.#framing.kind === 'unsound') {
      this.#abandon(new FilingsError('integrity', `${this.#request.url.host}: ${this.#framing.why}`));
      return;
    }
    this.#settleHead?.resolve({
      status,
      headers,
      length: this.#framing.kind === 'length' ? this.#framing.length : undefined,
      untilClose: this.#framing.kind === 'until-close',
      body: this.#body,
      discard: () => {
        if (!this.#over) this.#abandon(new FilingsError('internal', 'the rest of the body was not wanted'));
      },
    });
    this.#settleHead = undefined;
  }

  #onData(chunk: Buffer): void {
    if (this.#over) return;
    this.#received += chunk.length;
    this.#watchdog.fed(chunk.length);
    this.#body.push(chunk);
  }

  #onEnd(): void {
    if (this.#over) return;
    // undici's parser goes on to the end of what it was given, though the fields behind a body are too many.
    const { errored } = this.#connection.socket;
    if (isFieldOverflow(errored)) {
      this.#onError(errored as Error);
      return;
    }
    this.#close();
    // What is left to take no longer holds the connection back: it may carry the next request.
    this.#connection.intake.release();
    const doubt = this.#framing.kind === 'until-close' ? this.#doubt() : undefined;
    if (doubt) {
      this.#connection.socket.destroy();
      this.#body.fail(doubt);
    } else {
      this.#release();
      this.#body.end();
    }
  }

  /**
   * What makes the end of a body doubtful that only the connection ended (RFC 9112 section 9.8). A reset right behind
   * the last bytes reaches us as an ordinary end; but then the peer's address is gone, while after FIN it is still
   * there. Node caches the address, so nothing may have read it before.
   */
  #doubt(): FilingsError | undefined {
    const { secured, socket } = this.#connection;
    if (secured) return unproved(this.#unfinished);
    if (!this.#reset && socket.remoteAddress !== undefined) return undefined;
    const cut = truncated(this.#unfinished);
    return cut.reworded(cut.message, { fault: 'unproved-end' });
  }

  get #unfinished(): Unfinished {
    const expected = this.#framing.kind === 'length' ? this.#framing.length : undefined;
    return { url: this.#request.url, received: this.#received, expected };
  }

  #onError(error: Error): void {
    const { url } = this.#request;
    this.#abandon(this.#settleHead ? answerFailure(error, url) : bodyFailure(error, this.#unfinished));
  }

  readonly #onSocketError = (error: unknown) => {
    if (errnoOf(error) === 'ECONNRESET') this.#reset = true;
  };

  readonly #onAbort = () => this.#abandon(this.#request.signal.reason);

  #hold(): void {
    this.#connection.intake.hold();
    this.#watchdog.pause();
  }

  #letFlow(): void {
    if (this.#over || !this.#connection.intake.held) return;
    this.#watchdog.resume();
    this.#connection.intake.release();
  }

  /** Gives up: the connection is of no more use. */
  #abandon(error: unknown): void {
    if (this.#over) return;
    this.#close();
    this.#settleHead?.reject(error);
    this.#settleHead = undefined;
    this.#body.fail(error as Error);
    this.#connection.socket.destroy();
  }

  #close(): void {
    this.#over = true;
    this.#watchdog.pause();
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#connection.socket.off('error', this.#onSocketError);
  }

  #idleError(): FilingsError {
    const what = this.#settleHead ? 'no answer' : 'fewer than 1,000 new bytes';
    return new FilingsError(
      'temporary',
      `${this.#request.url.host}: timed out: ${what} in ${inSeconds(this.#request.idleTimeout)}`,
      {
        hint: 'running it again later is enough; --idle-timeout allows more',
        retryable: true,
      },
    );
  }
}
