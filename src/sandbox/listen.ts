import { type AddressInfo, isIPv6, type Server } from 'node:net';
import { systemReason } from '../disk/system-reason.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { listeningAddress } from '../http/connection/loopback.ts';

/**
 * Listens on an address of this machine; resolves with the port, which was free when 0 was asked for.
 * Rejects with a FilingsError `usage` (no such address) or `local_io` (in use, not permitted).
 */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(listenError(authority(host, port), cause)));
    server.listen({ host: listeningAddress(host), port }, () => {
      server.removeAllListeners('error');
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function listenError(address: string, cause: Error): FilingsError {
  switch (errnoOf(cause)) {
    case 'EADDRINUSE': {
      const hint = 'choose another port with --port, or 0 for a free one';
      return new FilingsError('local_io', `cannot listen on ${address}: the port is in use`, { hint, cause });
    }
    case 'EACCES': {
      const hint = 'choose a port above 1023 with --port, or 0 for a free one';
      return new FilingsError('local_io', `cannot listen on ${address}: no permission`, { hint, cause });
    }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new FilingsError('usage', `cannot listen on ${address}: it is no address of this machine`, { cause });
    default:
      return new FilingsError('local_io', `cannot listen on ${address}: ${systemReason(cause)}`, { cause });
  }
}

/** The authority of a URL: an IPv6 address stands in brackets, its zone after `%25` (RFC 3986 section 3.2.2, RFC 6874). */
export function authority(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host.replace('%', '%25')}]` : host}:${port}`;
}
