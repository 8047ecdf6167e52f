// Repeats failed attempts. Decides from the error whether a retry can help, and how long to wait before it.
import { FilingsError } from '../errors.ts';
import { inSeconds } from '../text.ts';
import type { World } from '../world.ts';
import { httpDate } from './head.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** The first wait, in milliseconds. Each further wait is twice as long. */
const FIRST_WAIT_MS = 1000;
const MAX_BACKOFF_MS = 60_000;
/** A century, in milliseconds, because now plus the wait must be a valid date. */
const MAX_SERVICE_WAIT_MS = 100 * 365 * 86_400_000;
/** An attempt with this much progress resets the count of failures: the service works, only the line is bad. */
const MIN_PROGRESS_BYTES = 1 << 20;
/** Statuses that are retried. Every other one is final (docs/using.md, "Download"). */
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Returns whether a request with this status may succeed later. */
export function isRetriedStatus(status: number): boolean {
  return RETRIED.has(status);
}

/** The number of retries and their timing, in milliseconds. */
export interface RetryPolicy extends Pick<World, 'monotonic' | 'now' | 'sleep' | 'random'> {
  readonly retries: number;
  readonly maxRetryAfterMs: number;
  readonly limiter: RateLimiter;
}

/** A failed attempt that is followed by another. */
export interface RetryEvent {
  readonly error: FilingsError;
  readonly waitMs: number;
  /** Whether the service asked for the wait. */
  readonly isServiceWait: boolean;
  /** The number of the retry that follows, and of all that may follow. */
  readonly retry: number;
  readonly retries: number;
}

/** Observes the attempts of one request. */
export interface RetryWatcher {
  /** Returns the number of new bytes that the last attempt received. */
  readonly progress?: (() => number) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/**
 * Repeats an attempt until it succeeds or a retry cannot help. Returns the result of the attempt. Throws its last error
 * with the number of tries, or the signal's reason.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
  { progress, onRetry }: RetryWatcher = {},
): Promise<T> {
  let failures = 0;
  let lastFault: FilingsError['fault'];
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof FilingsError)) throw error;
      failures = (progress?.() ?? 0) >= MIN_PROGRESS_BYTES ? 1 : failures + 1;
      // The monotonic clock counts, because the machine's clock may have been set in the meantime.
      const serviceWaitMs = error.retryDue === undefined ? undefined : Math.max(0, error.retryDue - policy.monotonic());
      // A name that does not resolve is retried once: the name server may fail for a moment, but a misspelt name stays.
      const isUnresolved = error.fault === 'unresolved-name';
      const retryable = error.retryable && !(isUnresolved && lastFault === error.fault);
      lastFault = error.fault;
      const isTooLong = serviceWaitMs !== undefined && serviceWaitMs > policy.maxRetryAfterMs;
      // A wait that is too long ends the run, even if no retry is left.
      if (!retryable || (failures > policy.retries && !isTooLong)) throw tries > 1 ? error.with({ tries }) : error;
      if (isTooLong) {
        const fewer = error.problem?.status === 429 ? ', with fewer requests: --rate 1/s' : '';
        throw error.with({
          serviceWaitMs,
          code: 'temporary',
          hint: `longer than --max-retry-after (${inSeconds(policy.maxRetryAfterMs)}): run it again after that time${fewer}`,
          stopsRun: true,
        });
      }
      const retries = isUnresolved ? failures : policy.retries;
      // Up to half of it is added at random, so that many clients do not return at the same time.
      const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), MAX_BACKOFF_MS) * (1 + policy.random() / 2);
      const waitMs = serviceWaitMs ?? Math.round(backoffMs);
      onRetry?.({ error, waitMs, isServiceWait: serviceWaitMs !== undefined, retry: failures, retries });
      // RateLimiter makes all jobs wait if the service asks for it.
      if (serviceWaitMs === undefined) await policy.sleep(waitMs, signal);
    }
  }
}

/**
 * Returns the wait that Retry-After asks for (RFC 9110, section 10.2.3), in milliseconds from `now`: its seconds, or
 * the time to its date, which is 0 for a past date. Returns undefined for an invalid or negative value.
 */
export function retryAfterMs(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_SERVICE_WAIT_MS);
  const date = httpDate(text);
  return date === undefined ? undefined : Math.min(Math.max(0, date - now), MAX_SERVICE_WAIT_MS);
}
