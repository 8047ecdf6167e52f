import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { errnoOf, FilingsError } from '../errors.ts';
import { isRetriedStatus } from './retry.ts';

/** Asks a proxy for a tunnel to a URL's host (CONNECT, RFC 9110 section 9.3.6). Throws `temporary` when it refuses. */
export async function openTunnel(socket: Socket, url: URL, proxy: URL, signal: AbortSignal): Promise<void> {
  const { request } = await import('node:http');
  const target = `${url.hostname}:${url.port || 443}`;
  const authorization = proxyAuthorization(proxy);
  const headers = { host: target, ...(authorization && { 'proxy-authorization': authorization }) };
  const asked = request({ method: 'CONNECT', path: target, headers, createConnection: () => socket });
  // Node would say that it closes the connection.
  asked.removeHeader('connection');
  asked.on('error', () => socket.destroy()).end();
  const { status = 0, error } = await once(asked, 'connect', { signal }).then(
    ([answer]) => ({ status: (answer as IncomingMessage).statusCode, error: undefined }),
    (thrown: unknown) => ({ status: undefined, error: errnoOf(thrown) ?? 'unknown' }),
  );
  if (status >= 200 && status < 300) return;
  socket.destroy();
  signal.throwIfAborted();
  const closed = error !== undefined && !error.startsWith('HPE_');
  const answer = closed
    ? 'closed the connection'
    : error
      ? 'gave an answer that is not HTTP'
      : `refused with ${status}`;
  throw new FilingsError('temporary', `${url.host}: the proxy ${proxy.host} ${answer}`, {
    connected: false,
    retryable: closed || isRetriedStatus(status),
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
