import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buildConnector, Client } from 'undici';
import { childOf, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { lookUp } from '../loopback.ts';
import { inSeconds } from '../text.ts';
import type { World } from '../world.ts';
import { connectFailure } from './failures.ts';
import { PausableSocket, ReadBuffers } from './pausable-socket.ts';
import { openTunnel, proxyFor } from './proxy.ts';
import { Watchdog } from './watchdog.ts';

/** Of the whole time, for one address of several: a dead route leaves time for the next. */
const ADDRESS_SHARE = 4;
/** Before common servers drop theirs. */
const KEEP_IDLE_MS = 4000;
/** Bytes of header fields. */
const MAX_HEAD = 16_384;

/** Milliseconds. */
interface Timeouts {
  /** Look-up, all addresses, the proxy's answer and the TLS handshake together. */
  readonly connectTimeout: number;
  readonly idleTimeout: number;
}

export interface Connection {
  readonly socket: PausableSocket;
  /** Node can't tell a closure alert from a cut: over TLS a connection's end proves nothing. */
  readonly secured: boolean;
  /** Asked in the service's place; none where there is a tunnel through it. */
  readonly proxy: URL | undefined;
  readonly client: Client;
  /** The server may close it just as a request goes out. */
  reused: boolean;
}

/** Kept for the next request to the same origin. TLS sessions are resumed. */
export class Connections {
  readonly timeouts: Timeouts;
  readonly watchdog: Watchdog;
  readonly #connecting: Watchdog;
  readonly #env: World['env'];
  readonly #idle = new Map<string, Connection[]>();
  /** By host name, the address that a connection succeeded to after others had failed. It is tried first. */
  readonly #reachable = new Map<string, string>();
  readonly #dialling: buildConnector.BuildOptions;
  readonly #connect: buildConnector.connector;

  constructor(timeouts: Timeouts, world: Pick<World, 'env' | 'monotonic' | 'sleep'>) {
    this.timeouts = timeouts;
    this.watchdog = new Watchdog(timeouts.idleTimeout, world);
    this.#connecting = new Watchdog(timeouts.connectTimeout, world);
    this.#env = world.env;
    this.#dialling = {
      timeout: 0,
      lookup: this.#lookUp,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.ceil(timeouts.connectTimeout / ADDRESS_SHARE),
      // NODE_TLS_REJECT_UNAUTHORIZED must not switch it off.
      rejectUnauthorized: true,
    };
    this.#connect = buildConnector(this.#dialling);
  }

  /** Throws `temporary` with the cause in plain words; the signal's reason. */
  async acquire(url: URL, signal: AbortSignal): Promise<Connection> {
    const idle = this.#idle.get(url.origin) ?? [];
    for (let connection = idle.pop(); connection; connection = idle.pop()) {
      if (connection.socket.isOpen) return connection;
    }
    return this.#open(url, signal);
  }

  /** Its answer was read to its end. */
  release(url: URL, connection: Connection): void {
    connection.reused = true;
    this.#idle.set(url.origin, [...(this.#idle.get(url.origin) ?? []), connection]);
  }

  close(): void {
    this.watchdog.close();
    this.#connecting.close();
    for (const connection of [...this.#idle.values()].flat()) connection.socket.destroy();
    this.#idle.clear();
  }

  async #open(url: URL, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted();
    const proxy = proxyFor(url, this.#env);
    const bounded = childOf(signal);
    const why = `no connection in ${inSeconds(this.timeouts.connectTimeout)}`;
    const timeout = Object.assign(new Error(why), { code: 'ETIMEDOUT' });
    const watched = this.#connecting.watch(() => bounded.abort(timeout));
    try {
      return await this.#dial(url, proxy, bounded.signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof FilingsError ? error : connectFailure(bounded.signal.reason ?? error, url, proxy);
    } finally {
      watched.end();
      bounded.detach();
    }
  }

  readonly #lookUp: LookupFunction = (hostname, options, done) => {
    lookUp(hostname, options, (error, found, family) => {
      const isReachable = ({ address }: LookupAddress) => address === this.#reachable.get(hostname);
      const sorted = Array.isArray(found)
        ? [...found].sort((a, b) => Number(isReachable(b)) - Number(isReachable(a)))
        : found;
      done(error, sorted, family);
    });
  };

  async #dial(url: URL, proxy: URL | undefined, signal: AbortSignal): Promise<Connection> {
    const first = proxy ?? url;
    const tunnel = proxy !== undefined && url.protocol === 'https:';
    const buffers = first.protocol === 'http:' && !tunnel ? new ReadBuffers() : undefined;
    const connect = buffers ? buildConnector({ ...this.#dialling, onread: buffers.onread }) : this.#connect;
    let real = await connected(connect, first, undefined, signal);
    this.#rememberAddress(first, real);
    if (tunnel) {
      await openTunnel(real, url, proxy, signal);
      real = await connected(this.#connect, url, real, signal);
    }
    const socket = new PausableSocket(real, buffers);
    const client = clientOver(socket, url.origin);
    return { socket, secured: !buffers, proxy: tunnel ? undefined : proxy, client, reused: false };
  }

  /** Not by the socket's remote address: that must not be read before the connection ends (`request.ts`). */
  #rememberAddress({ hostname }: URL, { autoSelectFamilyAttemptedAddresses: attempted = [] }: Socket): void {
    const last = attempted.at(-1);
    // A host whose first address answers keeps the order of its name server, which may spread the load.
    if (last !== undefined && attempted.length > 1) this.#reachable.set(hostname, last.replace(/:\d+$/, ''));
  }
}

/** Connects, by TLS over `below` where that is given. */
function connected(
  connect: buildConnector.connector,
  to: URL,
  below: Socket | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { host, protocol, port } = to;
    const hostname = to.hostname.replace(/^\[|\]$/g, '');
    const options = { host, hostname, protocol, port, ...(below && { httpSocket: below }) };
    // undici's types hide that the socket is returned at once. Otherwise dialling could not be aborted.
    const socket = connect(options, (error, open) => {
      forget();
      if (open) resolve(open);
      else reject(error);
    }) as unknown as Socket;
    // The socket is destroyed in the very turn in which the signal aborts.
    const forget = onAbort(signal, (reason) => {
      socket.destroy();
      below?.destroy();
      reject(reason);
    });
  });
}

function clientOver(socket: PausableSocket, origin: string): Client {
  const closed = Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
  return new Client(origin, {
    pipelining: 1,
    maxHeaderSize: MAX_HEAD,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_IDLE_MS,
    // undici expects an asynchronous answer.
    connect: (_options, done) =>
      setImmediate(() => {
        // undici's types ask for a Socket, but HTTP/1 uses only what any Duplex has.
        if (socket.destroyed) done(closed, null);
        else done(null, socket as Duplex as Socket);
      }),
  });
}
