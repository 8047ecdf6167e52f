import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { FilingsError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';
import type { World } from '../world.ts';
import { isRetriedStatus } from './retry.ts';

// Chooses the proxy for a URL from the environment, and makes tunnels through proxies.

/**
 * Returns the proxy for a URL, or undefined for a direct connection, as for every loopback host. Reads `HTTPS_PROXY`,
 * `HTTP_PROXY` and `NO_PROXY` in either case, lower case first as curl does. Throws `config` if the proxy is not a URL.
 */
export function proxyFor(url: URL, env: World['env']): URL | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = env[name] || env[name.toUpperCase()];
  if (!value || isExempt(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  return parseProxy(value, name.toUpperCase());
}

/**
 * Returns whether NO_PROXY has an entry for the host. Entries are separated by commas or spaces. An entry is `*`, a
 * host name (which includes its subdomains, with or without a leading dot), an address or a CIDR range, and may end in
 * `:PORT`.
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

/** Returns whether an address is in a range. A range without bits is one address. */
function isInRange(address: string, range: string): boolean {
  const [net = '', bits] = range.split('/');
  const maxPrefix = isIPv6(net) ? 128 : 32;
  const prefix = bits === undefined ? maxPrefix : Number.parseInt(bits, 10);
  if (!isIP(net) || !(prefix >= 0 && prefix <= maxPrefix)) return false;
  const list = new BlockList();
  list.addSubnet(net, prefix, isIPv6(net) ? 'ipv6' : 'ipv4');
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Returns a host name in lower case, without brackets and final dot. */
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

/** Returns the header fields that a proxy needs: the user and password of its URL, if there are any. */
export function proxyFields(proxy: URL): Readonly<Record<string, string>> {
  if (!proxy.username && !proxy.password) return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Returns the hint for a status of 407. */
export function proxyPasswordHint(variable: 'HTTP_PROXY' | 'HTTPS_PROXY'): string {
  return `the proxy requires a user and a password: put USER:PASSWORD@ before its host in ${variable}`;
}

/**
 * Makes a tunnel through a proxy by CONNECT (RFC 9110, section 9.3.6). Throws `auth`, which stops the run, if the proxy
 * requires a password, `temporary` for any other refusal, and the signal's reason.
 */
export async function openTunnel(socket: Socket, url: URL, proxy: URL, signal: AbortSignal): Promise<void> {
  const http = await import('node:http');
  const target = `${url.hostname}:${url.port || 443}`;
  const headers = { host: target, ...proxyFields(proxy) };
  const request = http.request({ method: 'CONNECT', path: target, headers, createConnection: () => socket });
  // Node would add `Connection: close`.
  request.removeHeader('connection');
  request.on('error', () => socket.destroy()).end();
  const [response] = await once(request, 'connect', { signal }).catch(() => []);
  const status = (response as IncomingMessage | undefined)?.statusCode;
  if (status !== undefined && status >= 200 && status < 300) return;
  socket.destroy();
  signal.throwIfAborted();
  const fault = status === undefined ? 'does not answer as a proxy does' : `refused with ${status}`;
  const subject = { host: url.host };
  const reason = `the proxy ${proxy.host} ${fault}`;
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
