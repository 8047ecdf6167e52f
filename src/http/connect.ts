import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { FilingsError } from '../errors.ts';
import { connectFailure } from './failure.ts';
import { happens } from './happens.ts';
import { Intake } from './intake.ts';
import { openTunnel } from './tunnel.ts';

/** One address of several may take this share of the whole time, so that a dead route leaves time for the next. */
const ADDRESS_SHARE = 4;
const LONGEST_ADDRESS_MS = 3000;

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
  const bounded = new AbortController();
  const onAbort = () => bounded.abort(signal.reason);
  const timer = setTimeout(() => bounded.abort(new ConnectTimeout(route.timeoutMs)), route.timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await dial(route, bounded.signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof FilingsError ? error : connectFailure(bounded.signal.reason ?? error, route);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
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
  await openTunnel(socket, url, proxy, signal);
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

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
