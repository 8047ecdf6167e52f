// Opens connections, directly or through a proxy, and keeps them for later requests to the same origin. undici only
// speaks HTTP on them: each connection has its own undici client, which can neither connect nor retry.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { buildConnector, Client } from 'undici';
import { createChildController, onAbort, startTimer } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { lookUpHost } from '../loopback.ts';
import type { World } from '../world.ts';
import { CLOSED_BEFORE_REQUEST, connectError } from './failures.ts';
import { MAX_HEAD_BYTES } from './head.ts';
import { PausableSocket, ReadBuffers } from './pausable-socket.ts';
import { checkProxyHint, findProxy, openTunnel } from './proxy.ts';
import { Watchdog } from './watchdog.ts';

// undici parses HTTP responses with WebAssembly. V8 would spend a third of the time of a small download on optimizing
// it, and a large download would be no faster.
setFlagsFromString('--liftoff-only');
// V8 then keeps the space for new objects small and collects it more often, which halves the memory of a long batch.
setFlagsFromString('--semi-space-growth-factor=1');
// V8 lets the space for old objects grow by half between two collections. By default it may grow to four times its size,
// and a batch of 50,000 files takes 160 MB instead of 90.
setFlagsFromString('--heap-growing-percent=50');

/** Each address of a host gets a quarter of the connect timeout, so that a dead route leaves time for the next one. */
const ADDRESSES_PER_TIMEOUT = 4;
/** Common servers wait longer than this, so they rarely close a connection just when a request is sent on it. */
const KEEP_UNUSED_MS = 4000;

interface Timeouts {
  /** For the name lookup, all addresses, the proxy's response and the TLS handshake together. */
  readonly connectTimeout: number;
  /** For a response that receives too few bytes (see watchdog.ts). It has nothing to do with unused connections. */
  readonly idleTimeout: number;
}

type ConnectionsWorld = Pick<World, 'env' | 'monotonic' | 'sleep'>;

/** It serves one request at a time, all to one origin. */
export interface Connection {
  readonly socket: PausableSocket;
  readonly usesTls: boolean;
  /**
   * The proxy to which requests are addressed (RFC 9112, section 3.2.2). Undefined without a proxy, and for a tunnel,
   * because the other end of a tunnel is the service itself.
   */
  readonly proxy: URL | undefined;
  readonly client: Client;
  /** If so, the server may be closing it just now. */
  isReused: boolean;
}

export class Connections {
  readonly timeouts: Timeouts;
  readonly watchdog: Watchdog;
  readonly #world: ConnectionsWorld;
  readonly #trace: ((line: string) => void) | undefined;
  /** By the origin of the requested URL, even if they lead to a proxy. */
  readonly #unused = new Map<string, Connection[]>();
  readonly #connectOptions: buildConnector.BuildOptions;
  readonly #connect: buildConnector.connector;

  constructor(timeouts: Timeouts, world: ConnectionsWorld, trace?: ((line: string) => void) | undefined) {
    this.timeouts = timeouts;
    this.watchdog = new Watchdog(timeouts.idleTimeout, world);
    this.#world = world;
    this.#trace = trace;
    if (world.env.ALL_PROXY || world.env.all_proxy)
      trace?.('* ALL_PROXY is not used: a proxy is set by HTTPS_PROXY or HTTP_PROXY');
    this.#connectOptions = {
      // 0 turns undici's timer off, which would not cover the proxy's response. The timer in `#open` covers it.
      timeout: 0,
      lookup: lookUpHost,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.ceil(timeouts.connectTimeout / ADDRESSES_PER_TIMEOUT),
      // This overrides NODE_TLS_REJECT_UNAUTHORIZED, which would disable certificate checks.
      rejectUnauthorized: true,
    };
    // One connector for all TLS connections, because it remembers TLS sessions and resumes them.
    this.#connect = buildConnector(this.#connectOptions);
  }

  /**
   * Nothing checks whether an unused connection is still open, because the server may close it at any moment. `get` in
   * request.ts finds that out.
   */
  async acquire(url: URL, signal: AbortSignal): Promise<Connection> {
    return this.#unused.get(url.origin)?.pop() ?? this.#open(url, signal);
  }

  /** Only for a response that was received to its end. */
  release(url: URL, connection: Connection): void {
    connection.isReused = true;
    this.#unused.set(url.origin, [...(this.#unused.get(url.origin) ?? []), connection]);
  }

  /** A connection in use is closed when its request aborts. */
  close(): void {
    this.watchdog.close();
    for (const connection of [...this.#unused.values()].flat()) connection.socket.destroy();
    this.#unused.clear();
  }

  async #open(url: URL, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted();
    const proxy = findProxy(url, this.#world.env);
    this.#trace?.(`* connecting to ${url.host} ${proxy ? `through the proxy ${proxy.host}` : 'without a proxy'}`);
    const { signal: timedSignal, abort, detach } = createChildController(signal);
    const stopTimer = startTimer(this.timeouts.connectTimeout, this.#world.sleep, () =>
      abort(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
    );
    try {
      return await this.#dial(url, proxy, timedSignal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof FilingsError ? error.with({ subject: { host: url.host } }) : error;
    } finally {
      stopTimer();
      detach();
    }
  }

  async #dial(url: URL, proxy: URL | undefined, signal: AbortSignal): Promise<Connection> {
    const { env } = this.#world;
    const peer = proxy ?? url;
    const isTunnel = proxy !== undefined && url.protocol === 'https:';
    const usesTls = peer.protocol === 'https:' || isTunnel;
    // Over TLS, read buffers would cost more time than they save (see `onread` in pausable-socket.ts).
    const buffers = usesTls ? undefined : new ReadBuffers();
    // A connector has one `onread` for all its connections, but each connection needs its own read buffers. So a plain
    // connection gets its own connector, which costs nothing, because it has no TLS sessions to remember.
    const connect = buffers ? buildConnector({ ...this.#connectOptions, onread: buffers.onread }) : this.#connect;
    const fail = (failedPeer: 'server' | 'proxy') => (error: unknown) => {
      // The messages of errors of proxy.ts already state the proxy.
      if (error instanceof FilingsError) throw error;
      const hint = proxy && checkProxyHint(proxy, url);
      throw connectError(signal.reason ?? error, env, failedPeer, hint).with({ subject: { proxy: proxy?.host } });
    };
    let rawSocket = await connectSocket(connect, peer, undefined, signal).catch(fail(proxy ? 'proxy' : 'server'));
    if (isTunnel) {
      await openTunnel(rawSocket, url, proxy, signal).catch(fail('proxy'));
      rawSocket = await connectSocket(this.#connect, url, rawSocket, signal).catch(fail('server'));
    }
    const socket = new PausableSocket(rawSocket, buffers);
    const client = createClient(socket, url.origin);
    return { socket, usesTls, proxy: isTunnel ? undefined : proxy, client, isReused: false };
  }
}

/** `lowerSocket` is a tunnel that already leads to the host. */
function connectSocket(
  connect: buildConnector.connector,
  url: URL,
  lowerSocket: Socket | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { host, protocol, port } = url;
    // A URL has brackets around an IPv6 address, but `net.connect` does not accept them.
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    const options = { host, hostname, protocol, port, ...(lowerSocket && { httpSocket: lowerSocket }) };
    // undici's types say that nothing is returned. In fact, the connector returns the socket at once, and only with the
    // socket can a connection attempt be aborted.
    const socket = connect(options, (error, open) => {
      unsubscribe();
      if (open) resolve(open);
      else reject(error);
    }) as unknown as Socket;
    // Destroying a TLS socket destroys the one below it as well.
    const unsubscribe = onAbort(signal, (reason) => {
      socket.destroy();
      reject(reason);
    });
  });
}

function createClient(socket: PausableSocket, origin: string): Client {
  const closedError = Object.assign(new Error('the connection was closed'), { code: CLOSED_BEFORE_REQUEST });
  return new Client(origin, {
    pipelining: 1,
    maxHeaderSize: MAX_HEAD_BYTES,
    // 0 turns undici's timeouts off. The watchdog replaces them.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_UNUSED_MS,
    // undici calls this for the first request, and again if the connection is closed before a request is written to it.
    // The second call must fail: request.ts decides whether to send the request on another connection. `done` must not
    // be called synchronously, because undici is still busy with the request then. It would ignore that the connection
    // is ready, and never send the request.
    connect: (_options, done) =>
      setImmediate(() => {
        // undici's types require a Socket, but for HTTP/1 it only uses what every Duplex has.
        if (socket.destroyed) done(closedError, null);
        else done(null, socket as Duplex as Socket);
      }),
  });
}
