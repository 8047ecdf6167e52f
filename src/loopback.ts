// Decides which hosts are this machine. Requests to them may use plain HTTP and never use a proxy. A resolver (DNS or
// the hosts file) is not asked about them, because its answer could send the API key to another machine, in plain text.
import type { LookupFunction } from 'node:net';

/** RFC 6761, section 6.3: `localhost` means these addresses, without a query to a name server. */
const LOCALHOST_ADDRESSES = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Accepts the `hostname` of a URL, which has brackets around IPv6, and an address without them. RFC 6761 also reserves
 * `x.localhost` and `localhost.`, but a resolver may still map them to any address, so they are not loopback here.
 */
export function isLoopback(hostname: string): boolean {
  return isLocalhost(hostname) || /^(127(\.\d{1,3}){3}|::1|\[::1\])$/.test(hostname);
}

/** Like `dns.lookup`, but never asks a resolver for `localhost`. For the `lookup` option of sockets. */
export const lookUpHost: LookupFunction = (hostname, options, done) => {
  // Imported only here, because the settings also import this file and need no resolver. The import of a built-in
  // module does not fail. `dns.lookup` passes its errors to `done`.
  if (!isLocalhost(hostname)) import('node:dns').then(({ default: dns }) => dns.lookup(hostname, options, done));
  else if (options.all) done(null, [...LOCALHOST_ADDRESSES]);
  // Without `all`, the callback takes a single address. No caller asks for a `family`.
  else done(null, '127.0.0.1', 4);
};

function isLocalhost(hostname: string): boolean {
  return hostname.toLowerCase() === 'localhost';
}
