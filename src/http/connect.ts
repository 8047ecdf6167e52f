import type { Socket } from 'node:net';
import buildConnector, { type Connector } from 'undici/lib/core/connect.js';
import { childOf, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { inSeconds } from '../text.ts';
import { connectFailure, proxyFailure } from './connect-failure.ts';
import { Intake } from './intake.ts';
import { lookUp } from './loopback.ts';
import { openTunnel } from './tunnel.ts';
import { startTimer } from './watchdog.ts';

/** One address of several may take this share of the whole time, so that a dead route leaves time for the next. */
const ADDRESS_SHARE = 4;
const LONGEST_ADDRESS_MS = 3000;

/** Where a request goes. */
export interface Route {
  readonly url: URL;
  readonly proxy: URL | undefined;
}

/** A socket that is ready for requests, and its reading side. */
export interface OpenSocket {
  readonly socket: Socket;
  readonly intake: Intake;
  /** Node can't tell a closure alert from a cut: over TLS a connection's end proves nothing. */
  readonly secured: boolean;
}

/** Opens sockets: TCP or TLS, direct or through a proxy. TLS sessions are resumed. */
export class SocketOpener {
  readonly #timeoutMs: number;
  readonly #monotonic: () => number;
  readonly #options: object;
  readonly #connect: Connector;

  /** `timeoutMs` bounds the name's look-up, all addresses, the proxy's answer and the TLS handshake together. */
  constructor(timeoutMs: number, monotonic: () => number) {
    this.#timeoutMs = timeoutMs;
    this.#monotonic = monotonic;
    this.#options = {
      timeout: 0,
      lookup: lookUp,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.ceil(Math.min(timeoutMs / ADDRESS_SHARE, LONGEST_ADDRESS_MS)),
      // Said explicitly: NODE_TLS_REJECT_UNAUTHORIZED must not switch it off.
      rejectUnauthorized: true,
    };
    this.#connect = buildConnector(this.#options);
  }

  /** Throws `temporary` with the cause in plain words; the signal's reason when aborted. */
  async open(route: Route, signal: AbortSignal): Promise<OpenSocket> {
    signal.throwIfAborted();
    const bounded = childOf(signal);
    const timeout = Object.assign(new Error(`no connection in ${inSeconds(this.#timeoutMs)}`), { code: 'ETIMEDOUT' });
    const stop = startTimer(this.#timeoutMs, this.#monotonic, () => bounded.abort(timeout));
    try {
      return await this.#open(route, bounded.signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof FilingsError ? error : connectFailure(bounded.signal.reason ?? error, route);
    } finally {
      stop();
      bounded.letGo();
    }
  }

  async #open({ url, proxy }: Route, signal: AbortSignal): Promise<OpenSocket> {
    const intake = new Intake();
    const first = proxy ?? url;
    const tunnel = proxy !== undefined && url.protocol === 'https:';
    const plain = first.protocol === 'http:' && !tunnel;
    const connect = plain ? buildConnector({ ...this.#options, onread: intake.onread }) : this.#connect;
    let socket = await connected(connect, first, undefined, signal).catch((error) => {
      throw proxy ? proxyFailure(error, url, proxy) : error;
    });
    if (tunnel) {
      await openTunnel(socket, url, proxy, signal);
      socket = await connected(this.#connect, url, socket, signal);
    }
    if (plain) intake.attachPlain(socket);
    else intake.attachTls(socket);
    return { socket, intake, secured: !plain };
  }
}

/** A connection to a URL's origin, TLS over `below` where that is given. */
function connected(connect: Connector, to: URL, below: Socket | undefined, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { host, hostname, protocol, port } = to;
    const options = {
      host,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      protocol,
      port,
      ...(below && { httpSocket: below }),
    };
    const socket = connect(options, (error, open) => {
      forget();
      if (open) resolve(open);
      else reject(error);
    });
    // The socket must be let go of in the very turn in which the signal aborts.
    const forget = onAbort(signal, (reason) => {
      socket.destroy();
      below?.destroy();
      reject(reason);
    });
  });
}
