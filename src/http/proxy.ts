// Chooses the proxy for a URL from the environment, and makes tunnels through proxies. undici's own proxy agents hide the
// socket, and miss cases of NO_PROXY.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FilingsError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';
import { foreign } from '../secrets.ts';
import type { World } from '../world.ts';
import { isRetriedStatus } from './retry.ts';

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
 * host name (which includes its subdomains, with or without a leading dot), or an address, and may end in `:PORT`.
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
  const suffix = bare(name).replace(/^\*?\./, '');
  return suffix !== '' && (host === suffix || host.endsWith(`.${suffix}`));
}

/** Returns a host name in lower case, without brackets and final dot. */
function bare(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
}

/** Throws without any part of the value, because a URL that is wrong may have its password anywhere. */
function parseProxy(value: string, name: string): URL {
  const fail = (reason: string, hint: string) => new FilingsError('config', reason, { subject: { name }, hint });
  const address = value.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  if (!isEncoded(address.slice(0, Math.max(0, address.lastIndexOf('@'))))) {
    const hint = 'write # as %23, / as %2F, ? as %3F, \\ as %5C and % as %25';
    throw fail('its user or password has a character that must be percent-encoded', hint);
  }
  const url = address === value ? `http://${value}` : value;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url);
  const hint = `set it to http://HOST:PORT or https://HOST:PORT, or put the service's host in NO_PROXY`;
  throw fail('not a URL of a proxy', hint);
}

/** Returns whether user and password may stand in a URL. Otherwise its host could end within the password. */
function isEncoded(userInfo: string): boolean {
  try {
    decodeURIComponent(userInfo);
    return !/[#/?\\]/.test(userInfo);
  } catch {
    return false;
  }
}

/** Returns the header fields that a proxy needs: the user and password of its URL, if there are any. */
export function proxyFields(proxy: URL): Readonly<Record<string, string>> {
  if (!proxy.username && !proxy.password) return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Returns the error for a proxy that refuses a request to a URL, or the tunnel to it. */
export function proxyRefusal(proxy: URL, url: URL, status: number, challenge: string | undefined): FilingsError {
  const variable = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const reason = `the proxy ${proxy.host} refused with ${status}`;
  if (status !== 407) {
    const hint = `check ${variable}, or put the host in NO_PROXY to connect without a proxy`;
    return new FilingsError('temporary', reason, { connected: false, retryable: isRetriedStatus(status), hint });
  }
  const schemes = schemesOf(challenge ?? '');
  const isBasic = schemes.length === 0 || schemes.some((scheme) => /^basic$/i.test(scheme));
  const given = proxy.username
    ? 'it does not accept the user and password in'
    : 'put USER:PASSWORD@ before its host in';
  const hint = isBasic
    ? `${given} ${variable}`
    : 'this program supports only Basic: ask the operator of the proxy, or run a local proxy that can log in to it, such as cntlm';
  const offer = isBasic ? '' : `: it offers only ${foreign(schemes.join(' and '))}`;
  return new FilingsError('auth', reason + offer, {
    connected: false,
    stopsRun: true,
    problem: { status },
    hint,
  });
}

/** Returns the schemes of challenges (RFC 9110, section 11.3), such as `Negotiate, NTLM, Basic realm="a, b"`. */
function schemesOf(challenges: string): string[] {
  const parts = challenges.replace(/"(\\.|[^"\\])*"/g, '').split(',');
  // A part with a name and `=` is a further parameter of the scheme before it.
  const schemes = parts.map((part) => /^\s*([\w.!#$%&'*+^`|~-]+)(?=\s*$|\s+[^\s=])/.exec(part)?.[1] ?? '');
  return [...new Set(schemes.filter(Boolean))];
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
  const { statusCode: status = 0, headers: fields } = (response as IncomingMessage | undefined) ?? { headers: {} };
  if (status >= 200 && status < 300) return;
  socket.destroy();
  signal.throwIfAborted();
  if (status > 0) throw proxyRefusal(proxy, url, status, fields['proxy-authenticate']);
  throw new FilingsError('temporary', `the proxy ${proxy.host} does not respond as a proxy does`, {
    connected: false,
    retryable: true,
    hint: 'check HTTPS_PROXY, or put the host in NO_PROXY to connect without a proxy',
  });
}
