import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { childOf } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import { inSeconds } from '../../text.ts';
import { startTimer } from '../timer.ts';
import { connectFailure, proxyFailure } from './failure.ts';
import { Intake } from './intake.ts';
import { lookupOf } from './loopback.ts';
import { socketEvent } from './socket-event.ts';
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
  readonly monotonic: () => number;
}

/** A socket that is ready for requests, and its reading side. */
export interface OpenSocket {
  readonly socket: Socket;
  readonly intake: Intake;
  /** Node can't tell a closure alert from a cut: over TLS a connection's end proves nothing. */
  readonly secured: boolean;
}

/**
 * Opens a socket to a URL's origin: TCP or TLS, direct or through a proxy.
 * Throws `temporary` with the cause in plain words; the signal's reason when aborted.
 */
export async function openSocket(route: Route, signal: AbortSignal): Promise<OpenSocket> {
  signal.throwIfAborted();
  const bounded = childOf(signal);
  const stop = startTimer(route.timeoutMs, route.monotonic, () => bounded.abort(new ConnectTimeout(route.timeoutMs)));
  try {
    return await dial(route, bounded.signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof FilingsError ? error : connectFailure(bounded.signal.reason ?? error, route);
  } finally {
    stop();
    bounded.letGo();
  }
}

class ConnectTimeout extends Error {
  readonly code = 'ETIMEDOUT';
  constructor(ms: number) {
    super(`no connection within ${inSeconds(ms)}`);
  }
}

async function dial(route: Route, signal: AbortSignal): Promise<OpenSocket> {
  const intake = new Intake();
  const { socket, outermost } = await reachThrough(route, signal, intake);
  if (outermost === undefined) {
    intake.attach(socket);
    return { socket, intake, secured: false };
  }
  const secured = await secure(socket, outermost, signal);
  intake.attach(secured);
  return { socket: secured, intake, secured: true };
}

/** Up to what the outermost TLS, that to the host `outermost`, stands on; the intake is fitted where there is none. */
async function reachThrough(
  route: Route,
  signal: AbortSignal,
  intake: Intake,
): Promise<{ socket: Socket; outermost: string | undefined }> {
  const { url, proxy } = route;
  const first = proxy ?? url;
  const tunnel = proxy !== undefined && url.protocol === 'https:';
  const plain = first.protocol === 'http:';
  const tcp = await connect(first, route, signal, plain && !tunnel ? intake : undefined);
  if (!tunnel) return { socket: tcp, outermost: plain ? undefined : first.hostname };
  const near = plain ? tcp : await secure(tcp, first.hostname, signal);
  await openTunnel(near, url, proxy, signal);
  return { socket: near, outermost: url.hostname };
}

async function connect(origin: URL, route: Route, signal: AbortSignal, intake: Intake | undefined): Promise<Socket> {
  const lookup = lookupOf(origin.hostname);
  const socket = connectTcp({
    host: unbracketed(origin.hostname),
    ...(lookup && { lookup }),
    port: Number(origin.port || (origin.protocol === 'https:' ? 443 : 80)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.ceil(Math.min(route.timeoutMs / ADDRESS_SHARE, LONGEST_ADDRESS_MS)),
    noDelay: true,
    keepAlive: true,
    ...(intake ? { onread: intake.onread } : {}),
  });
  await socketEvent(socket, 'connect', signal).catch((error) => {
    throw route.proxy ? proxyFailure(error, route.url, route.proxy) : error;
  });
  return socket;
}

async function secure(below: Socket, hostname: string, signal: AbortSignal): Promise<Socket> {
  const { connect: connectTls } = await import('node:tls');
  const host = unbracketed(hostname);
  const secured = connectTls({
    socket: below,
    host,
    // RFC 6066 section 3: no literal addresses in the server name.
    ...(isIP(host) ? {} : { servername: host }),
    ALPNProtocols: ['http/1.1'],
    // Said explicitly: NODE_TLS_REJECT_UNAUTHORIZED must not switch it off.
    rejectUnauthorized: true,
  });
  await socketEvent(secured, 'secureConnect', signal);
  return secured;
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
