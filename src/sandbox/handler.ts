import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Sleep } from '../abort.ts';
import { isLoopback } from '../loopback.ts';
import { Secrets } from '../secrets.ts';
import type { Archive } from './archive.ts';
import { type AuthRules, authenticationError, createRateLimit, type RateLimit } from './auth.ts';
import { problem, type Reply, send } from './reply.ts';
import { logFields, type ParsedRequest, parseRequest, sanitize } from './request.ts';
import { type Pages, route } from './routes.ts';

// Handles a request to the sandbox: checks host, credentials and rate, routes it, sends the response, and logs it.

export interface HandlerOptions extends AuthRules {
  readonly host: string;
  readonly sleep: Sleep;
  /** The delay of each response, in milliseconds. */
  readonly latencyMs?: number | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Splits listings into pages. */
  readonly pages?: Pages | undefined;
  /** Logs a printable line without secrets. */
  readonly log?: (line: string) => void;
}

/** Returns the handler of requests, which never rejects. `closing` ends delays. */
export function createHandler(archive: Archive, options: HandlerOptions, closing: AbortSignal) {
  const { now, sleep, latencyMs = 0, rateLimit, log } = options;
  const checkRateLimit = rateLimit ? createRateLimit(rateLimit, now) : () => 0;
  const secrets = new Secrets();
  secrets.add(options.apiKey);
  let count = 0;
  return async (request: IncomingMessage, response: ServerResponse) => {
    const at = now();
    const parsed = parseRequest(request, `sandbox-${++count}`);
    if (latencyMs > 0) await sleep(latencyMs, closing).catch(() => {});
    const reply =
      refuseHost(options.host, request, parsed.traceId) ?? (await decide(parsed, archive, options, checkRateLimit));
    const complete = await send(reply, response, parsed.method !== 'HEAD');
    const words = [new Date(at).toISOString(), ...logFields(parsed, secrets), reply.status, `${now() - at}ms`];
    if (reply.note !== undefined) words.push(`${parsed.traceId}: ${sanitize(reply.note, secrets)}`);
    if (!complete) words.push('(cut off)');
    log?.(words.join(' '));
  };
}

async function decide(
  parsed: ParsedRequest,
  archive: Archive,
  rules: HandlerOptions,
  checkRateLimit: () => number,
): Promise<Reply> {
  const { traceId } = parsed;
  try {
    const rejection = await authenticationError(parsed, rules);
    if (rejection) {
      return problem(401, { detail: rejection.detail, traceId }, { 'WWW-Authenticate': rejection.challenge });
    }
    const wait = checkRateLimit();
    if (wait > 0) return problem(429, { detail: 'too many requests', traceId }, { 'Retry-After': `${wait}` });
    return await route(parsed, archive, rules.pages);
  } catch (error) {
    // The error's text names a local path, so only the log shows it.
    const reply = problem(500, { detail: 'the archive could not be read', traceId });
    return { ...reply, note: (error as Error).message };
  }
}

/**
 * Refuses a request without `Host` or with two (RFC 9112, section 3.2). On loopback it also refuses one for a name that
 * is not a loopback name, because a web page can make its own name resolve to this machine, but cannot change `Host`.
 * Any port is accepted, because a forwarded port differs from this one.
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
