// Opens, keeps and reuses connections: direct ones, and those through a proxy or a tunnel.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buildConnector, Client } from 'undici';
import { childOf, createAbortController, onAbort, type Sleep } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { lookUp } from '../loopback.ts';
import type { World } from '../world.ts';
import { CLOSED_BEFORE_REQUEST, connectError } from './failures.ts';
import { PausableSocket, ReadBuffers } from './pausable-socket.ts';
import { openTunnel, proxyFor } from './proxy.ts';
import { Watchdog } from './watchdog.ts';

/**
 * The connect timeout is divided by this number for each address of a host, so that a dead route leaves time for the
 * next one.
 */
const ADDRESSES_PER_TIMEOUT = 4;
/** The time for which undici keeps an idle connection. Common servers close theirs later. */
const KEEP_IDLE_MS = 4000;
/** The most bytes of header fields. */
const MAX_HEAD_BYTES = 16_384;

/** In milliseconds. */
interface Timeouts {
  /** Covers the look-up, all addresses, the proxy's response and the TLS handshake together. */
  readonly connectTimeout: number;
  readonly idleTimeout: number;
}

/** A connection to one origin. It serves one request at a time. */
export interface Connection {
  readonly socket: PausableSocket;
  /**
   * Whether TLS is used. The end of the connection proves nothing then: Node reports a closure alert and a cut alike.
   */
  readonly isSecure: boolean;
  /** The proxy that receives the requests. Undefined without a proxy and for a tunnel, which leads to the service. */
  readonly proxy: URL | undefined;
  readonly client: Client;
  /**
   * Whether the connection has served a request. The server may close an idle connection just as the next request goes
   * out.
   */
  isReused: boolean;
}

/** Opens connections, and keeps them for the next request to the same origin. TLS sessions are resumed. */
export class Connections {
  readonly timeouts: Timeouts;
  readonly watchdog: Watchdog;
  readonly #sleep: Sleep;
  readonly #env: World['env'];
  readonly #trace: ((line: string) => void) | undefined;
  readonly #idle = new Map<string, Connection[]>();
  readonly #connectOptions: buildConnector.BuildOptions;
  readonly #connect: buildConnector.connector;

  /** `trace` prints a line for each connection through a proxy. */
  constructor(
    timeouts: Timeouts,
    world: Pick<World, 'env' | 'monotonic' | 'sleep'>,
    trace?: ((line: string) => void) | undefined,
  ) {
    this.timeouts = timeouts;
    this.watchdog = new Watchdog(timeouts.idleTimeout, world);
    this.#sleep = world.sleep;
    this.#env = world.env;
    this.#trace = trace;
    this.#connectOptions = {
      timeout: 0,
      lookup: lookUp,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.ceil(timeouts.connectTimeout / ADDRESSES_PER_TIMEOUT),
      // NODE_TLS_REJECT_UNAUTHORIZED must not switch the check off.
      rejectUnauthorized: true,
    };
    this.#connect = buildConnector(this.#connectOptions);
  }

  /**
   * Returns an idle connection, which the server may have closed, or opens one. Throws `temporary` with the cause in
   * plain words, and the signal's reason.
   */
  async acquire(url: URL, signal: AbortSignal): Promise<Connection> {
    return this.#idle.get(url.origin)?.pop() ?? this.#open(url, signal);
  }

  /** Takes a connection back whose response was read to its end. */
  release(url: URL, connection: Connection): void {
    connection.isReused = true;
    this.#idle.set(url.origin, [...(this.#idle.get(url.origin) ?? []), connection]);
  }

  /** Closes all idle connections. */
  close(): void {
    this.watchdog.close();
    for (const connection of [...this.#idle.values()].flat()) connection.socket.destroy();
    this.#idle.clear();
  }

  async #open(url: URL, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted();
    const proxy = proxyFor(url, this.#env);
    if (proxy) this.#trace?.(`* connecting to ${url.host} through the proxy ${proxy.host}`);
    const { signal: limited, abort, detach } = childOf(signal);
    const ended = createAbortController();
    const onTimeout = () => abort(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }));
    this.#sleep(this.timeouts.connectTimeout, ended.signal).then(onTimeout, () => {});
    try {
      return await this.#dial(url, proxy, limited);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof FilingsError) throw error.with({ subject: { host: url.host } });
      const failure = connectError(limited.reason ?? error, proxy, this.#env);
      throw failure.with({ subject: { host: url.host, proxy: proxy?.host } });
    } finally {
      ended.abort();
      detach();
    }
  }

  async #dial(url: URL, proxy: URL | undefined, signal: AbortSignal): Promise<Connection> {
    const peer = proxy ?? url;
    const isTunnel = proxy !== undefined && url.protocol === 'https:';
    const buffers = peer.protocol === 'http:' && !isTunnel ? new ReadBuffers() : undefined;
    const connect = buffers ? buildConnector({ ...this.#connectOptions, onread: buffers.onread }) : this.#connect;
    let real = await connectSocket(connect, peer, undefined, signal);
    if (isTunnel) {
      await openTunnel(real, url, proxy, signal);
      real = await connectSocket(this.#connect, url, real, signal);
    }
    const socket = new PausableSocket(real, buffers);
    const client = createClient(socket, url.origin);
    return { socket, isSecure: !buffers, proxy: isTunnel ? undefined : proxy, client, isReused: false };
  }
}

/** Connects to the host of a URL, if there is a `lowerSocket` by TLS over it. */
function connectSocket(
  connect: buildConnector.connector,
  url: URL,
  lowerSocket: Socket | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { host, protocol, port } = url;
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    const options = { host, hostname, protocol, port, ...(lowerSocket && { httpSocket: lowerSocket }) };
    // undici's types hide that the socket is returned at once. Without it, connecting could not be aborted.
    const socket = connect(options, (error, open) => {
      unsubscribe();
      if (open) resolve(open);
      else reject(error);
    }) as unknown as Socket;
    // Destroys the socket, and the one below it, synchronously on abort.
    const unsubscribe = onAbort(signal, (reason) => {
      socket.destroy();
      reject(reason);
    });
  });
}

function createClient(socket: PausableSocket, origin: string): Client {
  const closed = Object.assign(new Error('the connection was closed'), { code: CLOSED_BEFORE_REQUEST });
  return new Client(origin, {
    pipelining: 1,
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_IDLE_MS,
    // undici expects an asynchronous call of `done`. It connects again for a request that it has not written to a closed
    // connection.
    connect: (_options, done) =>
      setImmediate(() => {
        // undici's types ask for a Socket, but HTTP/1 uses only what any Duplex has.
        if (socket.destroyed) done(closed, null);
        else done(null, socket as Duplex as Socket);
      }),
  });
}
