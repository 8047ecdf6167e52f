// An https URL gets a tunnel through its proxy; for plain HTTP, request.ts sends the request to the proxy itself.
// undici's own proxy agents hide the socket, which pausable-socket.ts needs, and do not cover all forms of NO_PROXY.
import { on } from 'node:events';
import { BlockList, isIP, type Socket } from 'node:net';
import { FilingsError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';
import { markForRedaction } from '../secrets.ts';
import { isInQuotes, QUOTES_HINT, splitProxyUrl } from '../text.ts';
import type { World } from '../world.ts';
import { MAX_HEAD_BYTES, skipInterimResponses } from './head.ts';
import { RETRIED_STATUSES } from './retry.ts';

/**
 * As in curl, a variable in lower case takes precedence. Unlike curl, this program also reads `HTTP_PROXY` in upper
 * case: in a CGI script that variable holds the `Proxy` header of the request, but this is not a CGI program.
 */
export function findProxy(url: URL, env: World['env']): URL | undefined {
  // A proxy would connect to its own machine instead of this one. And because loopback URLs may be plain HTTP, it could
  // read the API key in the request.
  if (isLoopback(url.hostname)) return undefined;
  const name = proxyVariable(url);
  const value = env[name.toLowerCase()] || env[name];
  if (!value || isInNoProxy(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  return parseProxy(value, name);
}

/**
 * There is no standard for NO_PROXY. The rules are those of curl (`man curl`, "ENVIRONMENT"). Unlike curl, it may also
 * have `*.example.com` and `HOST:PORT`.
 */
function isInNoProxy(url: URL, noProxy: string): boolean {
  const host = normalizeHost(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    // An IPv6 address has colons of its own, so it needs brackets if a port follows.
    const [, entryHost = entry, entryPort = port] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    if (entryPort !== port) return false;
    const name = normalizeHost(entryHost);
    if (isIP(host)) return isInRange(host, name);
    const domain = name.replace(/^\*?\./, '');
    // Splitting the list may give empty entries.
    return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  });
}

function isInRange(host: string, entry: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const family = isIP(address);
  const maxBits = family === 4 ? 32 : 128;
  if (family === 0 || Number(bits ?? 0) > maxBits) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(bits ?? maxBits), `ipv${family}` as 'ipv4');
  return list.check(host, `ipv${isIP(host)}` as 'ipv4');
}

function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/[[\]]|\.$/g, '');
}

/**
 * A value without a scheme is an HTTP proxy, as in curl. Errors never quote the value, because the password may be
 * anywhere in a malformed URL.
 */
function parseProxy(value: string, name: string): URL {
  const fail = (reason: string, hint: string) => new FilingsError('config', reason, { subject: { name }, hint });
  if (isInQuotes(value)) throw fail('the proxy URL is in quotes', QUOTES_HINT);
  const { scheme, userInfo } = splitProxyUrl(value);
  if (!isEncoded(userInfo)) {
    const hint = 'write # as %23, / as %2F, ? as %3F, \\ as %5C and % as %25';
    throw fail('its user or password has a character that must be percent-encoded', hint);
  }
  const url = scheme === '' ? `http://${value}` : value;
  // In `ht!tp://p`, `ht!tp` is no scheme, and a URL parser would take it for the host.
  const isOneUrl = url.split('://').length === 2 && URL.canParse(url);
  if (isOneUrl && /^https?:$/.test(new URL(url).protocol)) return new URL(url);
  const hint = `set it to http://HOST:PORT or https://HOST:PORT, or put the service's host in NO_PROXY`;
  throw fail(/^socks/i.test(url) ? 'a SOCKS proxy is not supported' : 'invalid proxy URL', hint);
}

/** If not, a URL parser may take part of the user and password for the host. */
function isEncoded(userInfo: string): boolean {
  try {
    decodeURIComponent(userInfo);
    return !/[#/?\\]/.test(userInfo);
  } catch {
    return false;
  }
}

/** RFC 7617. */
export function makeProxyHeaders(proxy: URL): Readonly<Record<string, string>> {
  if (!proxy.username && !proxy.password) return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

const AVOID_PROXY = 'put the host in NO_PROXY to connect without a proxy';

/**
 * With 401, 403 or 407 the proxy refuses this program, so every other request to the service would fail, too. Callers
 * pass another status than 407 only for a tunnel: without one, it may be the service's. `challenge` is the value of
 * Proxy-Authenticate.
 */
export function proxyRefusalError(proxy: URL, url: URL, status: number, challenge: string): FilingsError {
  const reason = `the proxy ${proxy.host} refused with ${status}`;
  if (![401, 403, 407].includes(status)) {
    const details = { isUnreachable: true, retryable: RETRIED_STATUSES.has(status), hint: checkProxyHint(proxy, url) };
    return new FilingsError('temporary', reason, details);
  }
  const schemes = parseSchemes(challenge);
  const acceptsBasic = schemes.length === 0 || schemes.some((scheme) => /^basic$/i.test(scheme));
  const basicHint = proxy.username ? 'check the user and password in' : 'put USER:PASSWORD@ before the host in';
  let hint = `${basicHint} ${proxyVariable(url)}`;
  if (status === 403) hint = `ask its operator to allow ${url.host}, or ${AVOID_PROXY}`;
  if (!acceptsBasic)
    hint = `this program supports only Basic: ask the operator of the proxy, or run a local proxy that can log in to it, such as cntlm`;
  // The proxy wrote these names, so they could contain anything, even a secret that it echoes.
  const offer = acceptsBasic ? '' : `: it offers only ${markForRedaction(schemes.join(' and '))}`;
  return new FilingsError('auth', reason + offer, { stopsRun: true, problem: { status }, hint });
}

export function checkProxyHint(proxy: URL, url: URL): string {
  const scheme = proxy.protocol === 'https:' ? ` (a proxy that does not speak TLS itself needs http://)` : '';
  return `check ${proxyVariable(url)}${scheme}, or ${AVOID_PROXY}`;
}

function proxyVariable(url: URL): 'HTTPS_PROXY' | 'HTTP_PROXY' {
  return url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
}

/** RFC 9110, section 11.7.1: `Negotiate, NTLM, Basic realm="a, b"` has the schemes `Negotiate`, `NTLM` and `Basic`. */
function parseSchemes(challenges: string): string[] {
  // Quoted values are removed first, because they may contain commas.
  const pieces = challenges.replace(/"(\\.|[^"\\])*"/g, '').split(',');
  // A piece that begins with `NAME=` is a further parameter of the scheme before it.
  const schemes = pieces.map((piece) => /^\s*([\w.!#$%&'*+^`|~-]+)(?=\s*$|\s+[^\s=])/.exec(piece)?.[1] ?? '');
  return [...new Set(schemes.filter(Boolean))];
}

/**
 * CONNECT (RFC 9110, section 9.3.6): `socket`, connected to the proxy, then leads to the host. Not by `node:http`,
 * which takes an interim response to CONNECT for the final one.
 */
export async function openTunnel(socket: Socket, url: URL, proxy: URL, signal: AbortSignal): Promise<void> {
  const target = `${url.hostname}:${url.port || 443}`;
  const fields = Object.entries({ host: target, ...makeProxyHeaders(proxy) });
  socket.write(`CONNECT ${target} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  let cause: unknown;
  const head = await readHead(socket, signal).catch((error) => {
    cause = error;
  });
  // After `HTTP/1.1 `.
  const status = Number(head?.slice(9, 12));
  if (status >= 200 && status < 300) return;
  socket.destroy();
  signal.throwIfAborted();
  if (head !== undefined) {
    const challenges = [...head.matchAll(/^(?:proxy|www)-authenticate:(.*)/gim)].map(([, challenge]) => challenge);
    throw proxyRefusalError(proxy, url, status, challenges.join());
  }
  const details = { isUnreachable: true, retryable: true, hint: checkProxyHint(proxy, url), cause };
  throw new FilingsError('temporary', `no valid response from the proxy ${proxy.host}`, details);
}

/**
 * Returns the head of the final response, or undefined if it is not valid HTTP. The bytes after it are ignored, because
 * a TLS server sends nothing before the client does.
 */
async function readHead(socket: Socket, signal: AbortSignal): Promise<string | undefined> {
  let head = '';
  for await (const [bytes] of on(socket, 'data', { signal, close: ['end', 'close'] })) {
    const { reason, isFinal, rest } = skipInterimResponses(head + bytes.toString('latin1'));
    const length = rest.indexOf('\r\n\r\n');
    if (isFinal && length >= 0) return rest.slice(0, length);
    if (reason !== undefined || rest.length > MAX_HEAD_BYTES) return undefined;
    head = rest;
  }
  return undefined;
}
