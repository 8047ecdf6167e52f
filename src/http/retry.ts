// Retries failed attempts to get a file or a listing. Each error says whether a retry can help (`retryable`). The wait
// before a retry is the one that the service asks for. If it asks for none, the wait doubles with each failure.
import { FilingsError } from '../errors.ts';
import { exactDuration } from '../text.ts';
import type { World } from '../world.ts';
import { parseHttpDate } from './head.ts';

/** The first wait. Each further wait is twice as long, up to `MAX_BACKOFF_MS`. A random part is added to each. */
const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;
/** A century. Without a limit, the present time plus the wait might not be a valid date for the error message. */
const MAX_SERVICE_WAIT_MS = 100 * 365 * 86_400_000;
/** An attempt that received this much resets the count of failures: the service works, only the connection is bad. */
const MIN_PROGRESS_BYTES = 1 << 20;
/** These may go away by themselves (RFC 9110, section 15; RFC 8470 for 425; RFC 6585 for 429). All others are final. */
const RETRIED_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Returns whether a request may be repeated after this status of the service or a proxy. */
export function isRetriedStatus(status: number): boolean {
  return RETRIED_STATUSES.has(status);
}

/** The user's limits (--retries, --max-retry-after), with the clock and the random numbers of the run. */
export interface RetryPolicy extends Pick<World, 'monotonic' | 'sleep' | 'random'> {
  readonly maxRetries: number;
  /** If the service asks for a longer wait, the run stops instead. */
  readonly maxRetryAfterMs: number;
}

/** A failed attempt that will be followed by another. */
export interface RetryEvent {
  readonly error: FilingsError;
  readonly waitMs: number;
  /** Whether the service asked for this wait (Retry-After). */
  readonly isServiceWait: boolean;
  /** The number of the next retry. Starts again at 1 after an attempt with progress (`MIN_PROGRESS_BYTES`). */
  readonly retry: number;
  /** The number of the last possible retry. The message says "retry 2 of 5". */
  readonly maxRetries: number;
}

/** What the caller of `retry` may pass in order to report progress and to hear of retries. */
export interface RetryWatcher {
  /**
   * Returns the number of new bytes that the last attempt received. Called after each failure. Without this function,
   * nothing resets the count of failures.
   */
  readonly countNewBytes?: (() => number) | undefined;
  /** Called before the wait. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/**
 * Repeats an attempt until it succeeds, a retry cannot help, or all retries are used up. Returns the result of the
 * attempt that succeeded. Otherwise, throws the signal's reason, or the error of the last attempt. After more than one
 * attempt, the error gets their number. If the service asks for a wait that is too long, the error gets that wait
 * instead, and stops the run.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
  { countNewBytes, onRetry }: RetryWatcher = {},
): Promise<T> {
  // The failures since the last progress. `tries` below includes all attempts.
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
      // How much of the wait that the service asks for is left. `retryDue` is on the monotonic clock, because the
      // machine's clock may have been set in the meantime.
      const serviceWaitMs = error.retryDue === undefined ? undefined : Math.max(0, error.retryDue - policy.monotonic());
      // A name that does not resolve is retried only once. The name server may have failed for a moment, but most often
      // the name is misspelled.
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
          stopsRun: true,
        });
      }
      // A name that does not resolve gets only this retry, so this is the last one, whatever the policy allows.
      const maxRetries = isUnresolved ? failures : policy.maxRetries;
      // Up to half of the wait is added at random, so that many clients do not return at the same time.
      const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS) * (1 + policy.random() / 2);
      const waitMs = serviceWaitMs ?? Math.round(backoffMs);
      onRetry?.({ error, waitMs, isServiceWait: serviceWaitMs !== undefined, retry: failures, maxRetries });
      // Nothing waits here if the service asked for the wait. The RateLimiter was paused when the response arrived, and
      // makes the next request of every job wait.
      if (serviceWaitMs === undefined) await policy.sleep(waitMs, signal);
    }
  }
}

/**
 * Parses Retry-After (RFC 9110, section 10.2.3), which is a number of seconds or a date, into milliseconds from `now`
 * on. Returns undefined for an invalid value.
 */
export function parseRetryAfter(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_SERVICE_WAIT_MS);
  const date = parseHttpDate(text);
  return date === undefined ? undefined : Math.min(Math.max(0, date - now), MAX_SERVICE_WAIT_MS);
}
