import type { Socket } from 'node:net';
import { FilingsError } from '../../errors.ts';
import { isRetriedStatus } from '../retry/retry.ts';
import { socketEvent } from './socket-event.ts';

const LONGEST_PROXY_HEAD = 16_384;

/** Asks a proxy for a tunnel to a URL's host (CONNECT, RFC 9110 section 9.3.6). Throws `temporary` when it refuses. */
export async function openTunnel(socket: Socket, url: URL, proxy: URL, signal: AbortSignal): Promise<void> {
  const target = `${url.hostname}:${url.port || 443}`;
  const auth = proxyAuthorization(proxy);
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...(auth ? [`Proxy-Authorization: ${auth}`] : [])];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const head = await readHead(socket, signal);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]);
  if (status >= 200 && status < 300) return;
  socket.destroy();
  const answer = Number.isNaN(status) ? 'gave an answer that is not HTTP' : `refused with ${status}`;
  throw new FilingsError('temporary', `${url.host}: the proxy ${proxy.host} ${answer}`, {
    connected: false,
    retryable: isRetriedStatus(status),
    hint:
      status === 407
        ? 'the proxy wants a user and a password: put USER:PASSWORD@ before its host in HTTPS_PROXY'
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
    if (!chunk) await socketEvent(socket, 'readable', signal);
  }
}
