// Which hosts are this machine. Plain HTTP and no proxy are allowed for them, so no resolver may decide about it.
import type { LookupFunction } from 'node:net';

/** The addresses of `localhost` (RFC 6761, section 6.3), in the order in which they are tried. */
const LOCALHOST = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Returns whether a host is `localhost` or an address in 127.0.0.0/8 or `::1`. `x.localhost` and `localhost.` are not,
 * because a resolver may map them to any address.
 */
export function isLoopback(hostname: string): boolean {
  return isLocalhost(hostname) || /^(127(\.\d{1,3}){3}|::1|\[::1\])$/.test(hostname);
}

/** Looks a host name up as `dns.lookup` does, but never asks a resolver for `localhost`. */
export const lookUp: LookupFunction = (hostname, options, done) => {
  // Settings use this file too, and they need no resolver.
  if (!isLocalhost(hostname)) import('node:dns').then(({ default: dns }) => dns.lookup(hostname, options, done));
  else if (options.all) done(null, [...LOCALHOST]);
  else done(null, '127.0.0.1', 4);
};

function isLocalhost(hostname: string): boolean {
  return hostname.toLowerCase() === 'localhost';
}
