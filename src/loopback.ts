import type { LookupFunction } from 'node:net';

/** RFC 6761 section 6.3, in the order in which they are tried. */
const LOCALHOST = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * `localhost`, 127.0.0.0/8, `[::1]`. `x.localhost` and `localhost.` are names like any other: a resolver may send them
 * anywhere.
 */
export function isLoopback(hostname: string): boolean {
  return isLocalhost(hostname) || /^(127(\.\d{1,3}){3}|::1|\[::1\])$/.test(hostname);
}

export const lookUp: LookupFunction = (hostname, options, done) => {
  // Settings look at the names of hosts, too.
  if (!isLocalhost(hostname)) import('node:dns').then(({ default: dns }) => dns.lookup(hostname, options, done));
  else if (options.all) done(null, [...LOCALHOST]);
  else done(null, '127.0.0.1', 4);
};

function isLocalhost(hostname: string): boolean {
  return hostname.toLowerCase() === 'localhost';
}
