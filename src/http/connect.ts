import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { FilingsError } from '../errors.ts';
import { connectFailure } from './failure.ts';
import { Intake } from './intake.ts';

/** One address of several may take this share of the whole time, so that a dead route leaves time for the next. */
const ADDRESS_SHARE = 4;
const LONGEST_ADDRESS_MS = 3000;
const LONGEST_PROXY_HEAD = 16_384;

export interface Route {
  /** Where the request goes. */
  readonly url: URL;
  readonly proxy: URL | undefined;
  /** Bounds name look-up, all addresses, the proxy's answer and the TLS handshake together. Milliseconds. */
  readonly timeoutMs: number;
}

/** A socket that is ready for requests, and its reading side. */
export interface OpenSocket {
  readonly socket: Socket;
  readonly intake: Intake;
}

/**
 * Opens a socket to a URL's origin: TCP or TLS, direct or through a proxy.
 * Throws `temporary` with the cause in plain words; the signal's reason when aborted.
 */
export async function openSocket(route: Route, signal: AbortSignal): Promise<OpenSocket> {
  signal.throwIfAborted();
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(new ConnectTimeout(route.timeoutMs)), route.timeoutMs);
  const bounded = AbortSignal.any([signal, timer.signal]);
  try {
    return await dial(route, bounded);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof FilingsError ? error : connectFailure(bounded.reason ?? error, route);
  } finally {
    clearTimeout(timeout);
  }
}

class ConnectTimeout extends Error {
  readonly code = 'ETIMEDOUT';
  constructor(ms: number) {
    super(`no connection within ${ms / 1000} s`);
  }
}

async function dial(route: Route, signal: AbortSignal): Promise<OpenSocket> {
  const { url, proxy } = route;
  const intake = new Intake();
  const socket = await reachThrough(url, proxy, route, signal, intake);
  intake.attach(socket);
  return { socket, intake };
}

/** The intake is fitted to the outermost layer: it reads what undici is to see. */
async function reachThrough(
  url: URL,
  proxy: URL | undefined,
  route: Route,
  signal: AbortSignal,
  intake: Intake,
): Promise<Socket> {
  const first = proxy ?? url;
  const tunnel = proxy !== undefined && url.protocol === 'https:';
  const plainFirst = first.protocol === 'http:';
  const tcp = await connect(first, route, signal, plainFirst && !tunnel ? intake : undefined);
  const socket = plainFirst ? tcp : await secure(tcp, first.hostname, signal, tunnel ? undefined : intake);
  if (!tunnel) return socket;
  await openTunnel(socket, route, proxy, signal);
  return secure(socket, url.hostname, signal, intake);
}

async function connect(origin: URL, route: Route, signal: AbortSignal, intake: Intake | undefined): Promise<Socket> {
  const socket = connectTcp({
    host: unbracketed(origin.hostname),
    port: Number(origin.port || (origin.protocol === 'https:' ? 443 : 80)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.ceil(Math.min(route.timeoutMs / ADDRESS_SHARE, LONGEST_ADDRESS_MS)),
    noDelay: true,
    keepAlive: true,
    ...(intake ? { onread: intake.onread } : {}),
  });
  await happens(socket, 'connect', signal);
  return socket;
}

async function secure(
  socket: Socket,
  hostname: string,
  signal: AbortSignal,
  intake: Intake | undefined,
): Promise<Socket> {
  const { connect: connectTls } = await import('node:tls');
  const host = unbracketed(hostname);
  const options: ConnectionOptions = {
    socket,
    host,
    // RFC 6066 section 3: no literal addresses in the server name.
    ...(isIP(host) ? {} : { servername: host }),
    ALPNProtocols: ['http/1.1'],
    // Said explicitly: NODE_TLS_REJECT_UNAUTHORIZED must not switch it off.
    rejectUnauthorized: true,
  };
  // Node's types leave `onread` out here, its documentation does not.
  const secured = connectTls(intake ? ({ ...options, onread: intake.onread } as ConnectionOptions) : options);
  await happens(secured, 'secureConnect', signal);
  return secured;
}

/** CONNECT, RFC 9110 section 9.3.6. */
async function openTunnel(socket: Socket, route: Route, proxy: URL, signal: AbortSignal): Promise<void> {
  const target = `${route.url.hostname}:${route.url.port || 443}`;
  const auth = proxyAuthorization(proxy);
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...(auth ? [`Proxy-Authorization: ${auth}`] : [])];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const head = await readHead(socket, signal);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]);
  if (status >= 200 && status < 300) return;
  socket.destroy();
  const answer = Number.isNaN(status) ? 'gave an answer that is not HTTP' : `refused with ${status}`;
  throw new FilingsError('temporary', `${route.url.host}: the proxy ${proxy.host} ${answer}`, {
    hint:
      status === 407
        ? 'the proxy wants a user and a password: http://USER:PASSWORD@HOST:PORT in HTTPS_PROXY'
        : 'check HTTPS_PROXY, or name the host in NO_PROXY to go without a proxy',
  });
}

/** The value of Proxy-Authorization for a proxy URL with a user in it, or undefined. */
export function proxyAuthorization(proxy: URL): string | undefined {
  if (!proxy.username && !proxy.password) return undefined;
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** Reads up to the empty line; what follows it goes back. */
async function readHead(socket: Socket, signal: AbortSignal): Promise<string> {
  let held = Buffer.alloc(0);
  for (;;) {
    const chunk: Buffer | null = socket.read();
    if (chunk) held = Buffer.concat([held, chunk]);
    const end = held.indexOf('\r\n\r\n');
    if (end >= 0) {
      const rest = held.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
      return held.toString('latin1', 0, end);
    }
    if (socket.readableEnded || held.length > LONGEST_PROXY_HEAD) return held.toString('latin1');
    if (!chunk) await happens(socket, 'readable', signal);
  }
}

/** Waits for one event; destroys the socket and throws when it fails, ends or the signal aborts first. */
function happens(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      socket.off(event, onEvent).off('error', settle).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) {
        resolve();
        return;
      }
      // A late error has nobody to go to.
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const onEvent = () => settle();
    const onClose = () => settle(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
    const onAbort = () => settle(signal.reason);
    socket.once(event, onEvent).once('error', settle).once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
