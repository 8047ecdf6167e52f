import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { FilingsError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';
import type { World } from '../world.ts';
import { isRetriedStatus } from './retry.ts';

/** `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` in either case, lower case first as in curl. Never for loopback. */
export function proxyFor(url: URL, env: World['env']): URL | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = env[name] || env[name.toUpperCase()];
  if (!value || isExempt(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  return parseProxy(value, name.toUpperCase());
}

/**
 * NO_PROXY's entries are separated by commas or spaces: `*`, a host name (itself and what is below it, with or without
 * a leading dot), an address, a CIDR range; each may end in `:PORT`.
 */
function isExempt(url: URL, noProxy: string): boolean {
  const host = bare(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy.split(/[\s,]+/).some((entry) => matchesEntry(host, port, entry.toLowerCase()));
}

function matchesEntry(host: string, port: string, entry: string): boolean {
  if (entry === '*') return true;
  const [, address, name = address ?? entry, entryPort = port] = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(entry) ?? [];
  if (entryPort !== port) return false;
  if (isIP(host)) return isInRange(host, bare(name));
  const suffix = bare(name).replace(/^\*?\./, '');
  return suffix !== '' && (host === suffix || host.endsWith(`.${suffix}`));
}

/** An address alone is a range of one. */
function isInRange(address: string, range: string): boolean {
  const [net = '', bits] = range.split('/');
  const longest = isIPv6(net) ? 128 : 32;
  const prefix = bits === undefined ? longest : Number.parseInt(bits, 10);
  if (!isIP(net) || !(prefix >= 0 && prefix <= longest)) return false;
  const list = new BlockList();
  list.addSubnet(net, prefix, isIPv6(net) ? 'ipv6' : 'ipv4');
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Without brackets and final dot. */
function bare(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
}

function parseProxy(value: string, name: string): URL {
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
    decodeURIComponent(url.username + url.password);
    if (/^https?:$/.test(url.protocol)) return url;
  } catch {}
  throw new FilingsError('config', 'not a proxy this program can use', {
    subject: { name },
    hint: `set it to http://HOST:PORT or https://HOST:PORT, or name the service's host in NO_PROXY`,
  });
}

export function proxyFields(proxy: URL): Readonly<Record<string, string>> {
  if (!proxy.username && !proxy.password) return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

export function proxyPasswordHint(variable: 'HTTP_PROXY' | 'HTTPS_PROXY'): string {
  return `the proxy requires a user and a password: put USER:PASSWORD@ before its host in ${variable}`;
}

/**
 * CONNECT, RFC 9110 section 9.3.6. Throws `auth` if the proxy requires a password, which stops the run; `temporary` if it
 * refuses otherwise.
 */
export async function openTunnel(socket: Socket, url: URL, proxy: URL, signal: AbortSignal): Promise<void> {
  const { request } = await import('node:http');
  const target = `${url.hostname}:${url.port || 443}`;
  const headers = { host: target, ...proxyFields(proxy) };
  const asked = request({ method: 'CONNECT', path: target, headers, createConnection: () => socket });
  // Node would say that it closes the connection.
  asked.removeHeader('connection');
  asked.on('error', () => socket.destroy()).end();
  const [answer] = await once(asked, 'connect', { signal }).catch(() => []);
  const status = (answer as IncomingMessage | undefined)?.statusCode;
  if (status !== undefined && status >= 200 && status < 300) return;
  socket.destroy();
  signal.throwIfAborted();
  const why = status === undefined ? 'does not answer as a proxy does' : `refused with ${status}`;
  const subject = { host: url.host };
  const reason = `the proxy ${proxy.host} ${why}`;
  if (status === 407) {
    const hint = proxyPasswordHint('HTTPS_PROXY');
    throw new FilingsError('auth', reason, { subject, hint, connected: false, stopsRun: true, problem: { status } });
  }
  throw new FilingsError('temporary', reason, {
    subject,
    connected: false,
    retryable: status === undefined || isRetriedStatus(status),
    hint: 'check HTTPS_PROXY, or name the host in NO_PROXY to go without a proxy',
  });
}
