// Decides which hosts are this machine. Requests to them may use plain HTTP and never use a proxy. A resolver is not
// asked about them, because its answer could send the key to another machine, and anyone in between could read it.
import type { LookupFunction } from 'node:net';

/** RFC 6761, section 6.3: `localhost` means these addresses, without a query to a name server. */
const LOCALHOST_ADDRESSES = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** `x.localhost` and `localhost.` are not loopback, because a resolver may map them to any address. */
export function isLoopback(hostname: string): boolean {
  return isLocalhost(hostname) || /^(127(\.\d{1,3}){3}|::1|\[::1\])$/.test(hostname);
}

/** Like `dns.lookup`, but never asks a resolver for `localhost`. */
export const lookUpHost: LookupFunction = (hostname, options, done) => {
  // Imported only here, because the settings also import this file and need no resolver.
  if (!isLocalhost(hostname)) import('node:dns').then(({ default: dns }) => dns.lookup(hostname, options, done));
  else if (options.all) done(null, [...LOCALHOST_ADDRESSES]);
  else done(null, '127.0.0.1', 4);
};

function isLocalhost(hostname: string): boolean {
  return hostname.toLowerCase() === 'localhost';
}
