import { isLoopback } from '../http/connection/loopback.ts';
import { problem } from './problem.ts';
import type { Reply } from './reply.ts';

/**
 * Refuses a request that says not, or twice, whom it is for (RFC 9112 section 3.2), and on loopback one
 * that is for another name: a web page can let its own name lead here, but not change what `Host` tells.
 * Any port will do, since a forwarded one is another than ours.
 * @param listening the address or name that is listened on
 */
export function refuseHost(
  listening: string,
  hosts: readonly string[],
  url: string,
  traceId: string,
): Reply | undefined {
  const [host, ...more] = hosts;
  if (!host || more.length > 0) {
    return problem(400, { detail: `the Host header is ${host ? 'there more than once' : 'missing'}`, traceId });
  }
  if (!isLoopback(listening) || [host, ...authorityIn(url)].every(isForLoopback)) return undefined;
  return problem(421, { detail: 'Host must be a loopback name, such as localhost or 127.0.0.1', traceId });
}

/** A target in absolute form outweighs `Host` (RFC 9112 section 3.2.2). */
function authorityIn(url: string): readonly string[] {
  const match = /^https?:\/\/([^/?]*)/i.exec(url);
  return match ? [match[1] ?? ''] : [];
}

function isForLoopback(authority: string): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority)?.[1] ?? '';
  return isLoopback(name);
}
