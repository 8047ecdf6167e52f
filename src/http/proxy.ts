import { BlockList, isIP, isIPv6 } from 'node:net';
import { FilingsError } from '../errors.ts';
import { isLoopback } from './loopback.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a URL, or undefined: `HTTPS_PROXY`,
 * `HTTP_PROXY`, `NO_PROXY` in either case, lower case first as in curl. Never for loopback.
 */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = env[name] || env[name.toUpperCase()];
  if (!value || isExempt(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  return parseProxy(value, name.toUpperCase());
}

/**
 * Whether NO_PROXY exempts a URL. Entries are separated by commas or spaces: `*`,
 * a host name (itself and what is below it, with or without a leading dot), an
 * address, a CIDR range; each may end in `:PORT`.
 */
export function isExempt(url: URL, noProxy: string): boolean {
  const host = bare(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => matchesEntry(host, port, entry.toLowerCase()));
}

function matchesEntry(host: string, port: string, entry: string): boolean {
  if (entry === '*') return true;
  const { name, entryPort } = splitPort(entry);
  if (entryPort !== undefined && entryPort !== port) return false;
  if (isIP(host))
    return name === host || matchesRange(host, name.includes('/') ? name : `${name}/${isIPv6(name) ? 128 : 32}`);
  const suffix = bare(name).replace(/^\*?\./, '');
  return suffix !== '' && (host === suffix || host.endsWith(`.${suffix}`));
}

function splitPort(entry: string): { name: string; entryPort: string | undefined } {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(entry);
  if (bracketed) return { name: bracketed[1] ?? '', entryPort: bracketed[2] };
  const plain = /^([^:]*):(\d+)$/.exec(entry);
  return plain ? { name: plain[1] ?? '', entryPort: plain[2] } : { name: entry, entryPort: undefined };
}

function matchesRange(address: string, range: string): boolean {
  const [net = '', bits = ''] = range.split('/');
  const kind = isIP(net);
  const prefix = Number(bits);
  if (kind === 0 || !/^\d+$/.test(bits) || prefix > (kind === 6 ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(net, prefix, kind === 6 ? 'ipv6' : 'ipv4');
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** A host name without brackets and final dot, in lower case. */
function bare(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function parseProxy(value: string, name: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && isDecodable(url.username + url.password)) {
    return url;
  }
  throw new FilingsError('config', `${name}: not a proxy this program can use`, {
    hint: `set it to http://HOST:PORT or https://HOST:PORT, or name the service's host in NO_PROXY`,
  });
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
