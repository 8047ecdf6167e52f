import Client from 'undici/lib/dispatcher/client.js';
import { type OpenSocket, SocketOpener } from './connect.ts';
import { proxyFor } from './proxy.ts';

/** Idle connections are dropped before common servers drop theirs. */
const KEEP_IDLE_MS = 4000;
/** Bytes of header fields. */
const LONGEST_HEAD = 16_384;

export interface ConnectionOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds. */
  readonly connectTimeout: number;
  readonly monotonic: () => number;
}

/** One socket and the undici client that speaks over it. */
export interface Connection extends OpenSocket {
  readonly client: InstanceType<typeof Client>;
  readonly proxy: URL | undefined;
  /** It has carried an answer before, so the server may close it just as a request goes out. */
  reused: boolean;
}

/** The connections of a run: opened when needed, kept for the next request to the same origin. */
export class Connections {
  readonly #env: ConnectionOptions['env'];
  readonly #opener: SocketOpener;
  readonly #idle = new Map<string, Connection[]>();

  constructor({ env, connectTimeout, monotonic }: ConnectionOptions) {
    this.#env = env;
    this.#opener = new SocketOpener(connectTimeout, monotonic);
  }

  /** An idle connection to the URL's origin, or a new one; `fresh` asks for a new one. */
  async acquire(url: URL, signal: AbortSignal, fresh = false): Promise<Connection> {
    const idle = this.#idle.get(url.origin);
    while (!fresh && idle && idle.length > 0) {
      const connection = idle.pop();
      if (connection && !connection.socket.destroyed && connection.socket.readable) return connection;
      connection?.socket.destroy();
    }
    return this.#open(url, signal);
  }

  /** Takes back a connection whose answer was read to its end. */
  release(url: URL, connection: Connection): void {
    if (connection.socket.destroyed) return;
    connection.reused = true;
    const idle = this.#idle.get(url.origin);
    if (idle) idle.push(connection);
    else this.#idle.set(url.origin, [connection]);
  }

  /** Closes the idle connections. */
  close(): void {
    for (const connection of [...this.#idle.values()].flat()) connection.socket.destroy();
    this.#idle.clear();
  }

  /** The proxy that requests to a URL go through, if any. */
  proxyOf(url: URL): URL | undefined {
    return proxyFor(url, this.#env);
  }

  async #open(url: URL, signal: AbortSignal): Promise<Connection> {
    const proxy = this.proxyOf(url);
    const open = await this.#opener.open({ url, proxy }, signal);
    let used = false;
    const client = new Client(url.origin, {
      pipelining: 1,
      maxHeaderSize: LONGEST_HEAD,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_IDLE_MS,
      connect: (_options, done) => {
        // A client lives and dies with its one socket. In a turn of its own: undici expects an asynchronous answer.
        const error = used ? Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }) : null;
        used = true;
        setImmediate(() => (error ? done(error, null) : done(null, open.socket)));
      },
    });
    return { ...open, client, proxy, reused: false };
  }
}
