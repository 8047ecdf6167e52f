import { FilingsError } from '../errors.ts';
import { exactDuration } from '../text.ts';
import type { World } from '../world.ts';
import { parseHttpDate } from './head.ts';

const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;
/** A century. Without a limit, the present time plus the wait might not be a valid date for the error message. */
const MAX_SERVICE_WAIT_MS = 100 * 365 * 86_400_000;
/** An attempt that received this much resets the count of failures: the service works, only the connection is bad. */
const MIN_PROGRESS_BYTES = 1 << 20;
/** These may go away by themselves (RFC 9110, section 15; RFC 8470 for 425; RFC 6585 for 429). All others are final. */
const RETRIED_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

export function isRetriedStatus(status: number): boolean {
  return RETRIED_STATUSES.has(status);
}

export interface RetryPolicy extends Pick<World, 'monotonic' | 'sleep' | 'random'> {
  readonly maxRetries: number;
  /** If the service asks for a longer wait, the run stops instead. */
  readonly maxRetryAfterMs: number;
}

export interface RetryEvent {
  readonly error: FilingsError;
  readonly waitMs: number;
  readonly isServiceWait: boolean;
  /** Starts again at 1 after an attempt with progress (`MIN_PROGRESS_BYTES`). */
  readonly retry: number;
  readonly maxRetries: number;
}

export interface RetryWatcher {
  /** The new bytes of the last attempt. Without this function, nothing resets the count of failures. */
  readonly countNewBytes?: (() => number) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

export async function retry<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
  { countNewBytes, onRetry }: RetryWatcher = {},
): Promise<T> {
  // Since the last progress.
  let failures = 0;
  let lastSubcode: FilingsError['subcode'];
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // Any other error is a bug, which a retry would not mend.
      if (!(error instanceof FilingsError)) throw error;
      // 1 and not 0 after progress, because this attempt has failed as well.
      failures = (countNewBytes?.() ?? 0) >= MIN_PROGRESS_BYTES ? 1 : failures + 1;
      // On the monotonic clock, because the machine's clock may have been set in the meantime.
      const serviceWaitMs = error.retryDue === undefined ? undefined : Math.max(0, error.retryDue - policy.monotonic());
      // Retried only once: the name server may have failed for a moment, but most often the name is misspelled.
      const isUnresolved = error.subcode === 'unresolved-name';
      const retryable = error.retryable && !(isUnresolved && lastSubcode === error.subcode);
      lastSubcode = error.subcode;
      const isTooLong = serviceWaitMs !== undefined && serviceWaitMs > policy.maxRetryAfterMs;
      // If a retry could help but none is left, a wait that is too long must still stop the run, below.
      if (!retryable || (failures > policy.maxRetries && !isTooLong)) throw tries > 1 ? error.with({ tries }) : error;
      if (isTooLong) {
        const fewer = error.problem?.status === 429 ? ', with fewer requests: --rate 1/s' : '';
        throw error.with({
          serviceWaitMs,
          hint: `the wait is longer than --max-retry-after (${exactDuration(policy.maxRetryAfterMs)}): run it again when the wait is over${fewer}`,
          stopsRun: !error.isOtherOrigin,
        });
      }
      const maxRetries = isUnresolved ? failures : policy.maxRetries;
      // Up to half of the wait is added at random, so that many clients do not return at the same time.
      const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS) * (1 + policy.random() / 2);
      const waitMs = serviceWaitMs ?? Math.round(backoffMs);
      onRetry?.({ error, waitMs, isServiceWait: serviceWaitMs !== undefined, retry: failures, maxRetries });
      // The RateLimiter was paused when the response arrived, and makes the next request of every job wait. So a wait
      // that the service asks for needs no sleep here. One that another host asks for has paused nothing.
      if (serviceWaitMs === undefined || error.isOtherOrigin) await policy.sleep(waitMs, signal);
    }
  }
}

/** RFC 9110, section 10.2.3: a number of seconds or a date. Returns milliseconds from `now` on. */
export function parseRetryAfter(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_SERVICE_WAIT_MS);
  const date = parseHttpDate(text);
  return date === undefined ? undefined : Math.min(Math.max(0, date - now), MAX_SERVICE_WAIT_MS);
}
