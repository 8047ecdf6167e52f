import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Sleep } from '../abort.ts';
import { isLoopback } from '../http/loopback.ts';
import { Secrets } from '../secrets.ts';
import type { Archive } from './archive.ts';
import { createGate, type GateRules } from './gate.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { problem, type Reply, send } from './reply.ts';
import { type Asked, readAsked } from './request.ts';
import { requestLine } from './request-log.ts';
import { route } from './routes.ts';

export interface HandlerOptions extends GateRules {
  /** The address or name that is listened on. */
  readonly host: string;
  readonly sleep: Sleep;
  /** Delays each reply, in milliseconds. */
  readonly latencyMs?: number;
  readonly rateLimit?: RateLimit;
  /** Takes the line of each request, without a line break, printable and without secrets. */
  readonly log?: (line: string) => void;
}

/** Answers one request and logs it. Never rejects. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Makes the handler of every request; `closing` cuts its delays short. */
export function createHandler(archive: Archive, options: HandlerOptions, closing: AbortSignal): Handler {
  const { now, sleep, latencyMs = 0, log } = options;
  const decide = createDecision(archive, options);
  const secrets = new Secrets();
  secrets.add(options.apiKey);
  let count = 0;
  return async (request, response) => {
    const at = now();
    const asked = readAsked(request);
    const traceId = `sandbox-${++count}`;
    if (latencyMs > 0) await sleep(latencyMs, closing).catch(() => {});
    const reply = await decide(request, asked, traceId);
    const { status, note } = reply;
    const method = request.method ?? '';
    const complete = await send(reply, response, method !== 'HEAD');
    log?.(requestLine({ at, method, asked, traceId, status, note, complete, ms: now() - at }, secrets));
  };
}

function createDecision(archive: Archive, options: HandlerOptions) {
  const { host, now, rateLimit } = options;
  const gate = createGate(options);
  const takeTurn = rateLimit === undefined ? () => 0 : createRateLimit(rateLimit, now);
  return async (request: IncomingMessage, asked: Asked | undefined, traceId: string): Promise<Reply> => {
    const misdirected = refuseHost(host, request, traceId);
    if (misdirected) return misdirected;
    if (!asked) return problem(400, { detail: 'the percent-encoding of the path is broken', traceId });
    try {
      const rejection = await gate(asked);
      if (rejection)
        return problem(401, { detail: rejection.detail, traceId }, { 'WWW-Authenticate': rejection.challenge });
      const wait = takeTurn();
      if (wait > 0) return problem(429, { detail: 'too many requests', traceId }, { 'Retry-After': `${wait}` });
      const { method = '', headers } = request;
      return await route({ method, ...asked, headers, traceId }, { archive, now });
    } catch (error) {
      // The error's text names a path of this machine: it is for the log alone.
      const reply = problem(500, { detail: 'the archive could not be read', traceId });
      return { ...reply, note: (error as Error).message };
    }
  };
}

/**
 * Refuses a request that says not, or twice, whom it is for (RFC 9112 section 3.2), and on loopback one
 * that is for another name: a web page can let its own name lead here, but not change what `Host` tells.
 * Any port will do, since a forwarded one is another than ours.
 */
function refuseHost(listening: string, { headersDistinct, url = '' }: IncomingMessage, traceId: string) {
  const [host, ...more] = headersDistinct.host ?? [];
  if (!host || more.length > 0) {
    return problem(400, { detail: `the Host header is ${host ? 'there more than once' : 'missing'}`, traceId });
  }
  // A target in absolute form outweighs `Host` (RFC 9112 section 3.2.2).
  const named = [host, /^https?:\/\/([^/?]*)/i.exec(url)?.[1] ?? host];
  if (!isLoopback(listening) || named.every(isForLoopback)) return undefined;
  return problem(421, { detail: 'Host must be a loopback name, such as localhost or 127.0.0.1', traceId });
}

function isForLoopback(authority: string): boolean {
  return isLoopback(/^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority)?.[1] ?? '');
}
