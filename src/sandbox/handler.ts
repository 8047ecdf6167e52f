import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Sleep } from '../abort.ts';
import { isLoopback } from '../http/loopback.ts';
import { Secrets } from '../secrets.ts';
import type { Archive } from './archive.ts';
import { createRateLimit, type GateRules, type RateLimit, rejectionOf } from './gate.ts';
import { problem, type Reply, send } from './reply.ts';
import { type Asked, readAsked, shown, shownRequest } from './request.ts';
import { type Pages, route } from './routes.ts';

export interface HandlerOptions extends GateRules {
  readonly host: string;
  readonly sleep: Sleep;
  /** Milliseconds. */
  readonly latencyMs?: number | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Sends listings in pages. */
  readonly pages?: Pages | undefined;
  /** Takes a printable line without secrets. */
  readonly log?: (line: string) => void;
}

/** `closing` cuts delays short. What it gives never rejects. */
export function createHandler(archive: Archive, options: HandlerOptions, closing: AbortSignal) {
  const { now, sleep, latencyMs = 0, rateLimit, log } = options;
  const takeTurn = rateLimit ? createRateLimit(rateLimit, now) : () => 0;
  const secrets = new Secrets();
  secrets.add(options.apiKey);
  let count = 0;
  return async (request: IncomingMessage, response: ServerResponse) => {
    const at = now();
    const asked = readAsked(request, `sandbox-${++count}`);
    if (latencyMs > 0) await sleep(latencyMs, closing).catch(() => {});
    const reply = refuseHost(options.host, request, asked.traceId) ?? (await decide(asked, archive, options, takeTurn));
    const complete = await send(reply, response, asked.method !== 'HEAD');
    const words = [new Date(at).toISOString(), ...shownRequest(asked, secrets), reply.status, `${now() - at}ms`];
    if (reply.note !== undefined) words.push(`${asked.traceId}: ${shown(reply.note, secrets)}`);
    if (!complete) words.push('(cut off)');
    log?.(words.join(' '));
  };
}

async function decide(asked: Asked, archive: Archive, rules: HandlerOptions, takeTurn: () => number): Promise<Reply> {
  const { traceId } = asked;
  try {
    const rejection = await rejectionOf(asked, rules);
    if (rejection) {
      return problem(401, { detail: rejection.detail, traceId }, { 'WWW-Authenticate': rejection.challenge });
    }
    const wait = takeTurn();
    if (wait > 0) return problem(429, { detail: 'too many requests', traceId }, { 'Retry-After': `${wait}` });
    return await route(asked, archive, rules.pages);
  } catch (error) {
    // The error's text names a path of this machine.
    const reply = problem(500, { detail: 'the archive could not be read', traceId });
    return { ...reply, note: (error as Error).message };
  }
}

/**
 * Refuses a request that says not, or twice, whom it is for (RFC 9112 section 3.2), and on loopback one for another
 * name: a web page can let its own name lead here, but not change what `Host` tells. Any port will do, since a
 * forwarded one is another than ours.
 */
function refuseHost(listening: string, { headersDistinct }: IncomingMessage, traceId: string): Reply | undefined {
  const [host, ...more] = headersDistinct.host ?? [];
  if (!host || more.length > 0) {
    return problem(400, { detail: `the Host header is ${host ? 'there more than once' : 'missing'}`, traceId });
  }
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1] ?? '';
  if (!isLoopback(listening) || isLoopback(name)) return undefined;
  return problem(421, { detail: 'Host must be a loopback name, such as localhost or 127.0.0.1', traceId });
}
