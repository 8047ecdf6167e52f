import { FilingsError, messageOf } from '../errors.ts';
import { exactDuration } from '../text.ts';
import type { World } from '../world.ts';
import { type HeaderFields, parseHttpDate } from './head.ts';

const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;
/** A century. Without a limit, the present time plus the wait might not be a valid date for the error message. */
const MAX_SERVICE_WAIT_MS = 100 * 365 * 86_400_000;
/** An attempt that received this much resets the count of failures: the service works, only the connection is bad. */
const MIN_PROGRESS_BYTES = 1 << 20;
/** These may go away by themselves (RFC 9110, section 15; RFC 8470 for 425; RFC 6585 for 429). All others are final. */
export const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The settings of these names. */
export interface RetryPolicy {
  readonly retries: number;
  /** In milliseconds. If the service asks for a longer wait, the run stops instead. */
  readonly maxRetryAfter: number;
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

/** `failures` counts those since the last progress. */
function decideRetry(
  error: FilingsError,
  { failures, tries, previous }: Readonly<{ failures: number; tries: number; previous: FilingsError | undefined }>,
  policy: RetryPolicy,
  { now, random }: Pick<World, 'now' | 'random'>,
): RetryEvent | FilingsError {
  const serviceWaitMs = error.retryAt === undefined ? undefined : Math.max(0, error.retryAt - now());
  const isTooLong = serviceWaitMs !== undefined && serviceWaitMs > policy.maxRetryAfter;
  // Retried only once: the name server may have failed for a moment, but most often the name is misspelled.
  const isUnresolved = error.subcode === 'unresolved-name';
  const mayHelp = error.retryable && !(isUnresolved && previous?.subcode === error.subcode);
  if (mayHelp && isTooLong) {
    const fewer = error.problem?.status === 429 ? ', with fewer requests: --rate 1/s' : '';
    return error.with({
      serviceWaitMs,
      hint: `the wait is longer than --max-retry-after (${exactDuration(policy.maxRetryAfter)}): run it again when the wait is over${fewer}`,
      stopsRun: !error.isOtherOrigin,
    });
  }
  if (!mayHelp || failures > policy.retries) return tries > 1 ? error.with({ tries }) : error;
  // Up to half of the wait is added at random, so that many clients do not return at the same time.
  const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS) * (1 + random() / 2);
  return {
    error,
    waitMs: serviceWaitMs ?? Math.round(backoffMs),
    isServiceWait: serviceWaitMs !== undefined,
    retry: failures,
    maxRetries: isUnresolved ? failures : policy.retries,
  };
}

export async function retry<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  world: Pick<World, 'now' | 'random' | 'sleep'>,
  signal: AbortSignal,
  { countNewBytes, onRetry }: RetryWatcher = {},
): Promise<T> {
  let failures = 0;
  let previous: FilingsError | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // Any other error is a bug, which a retry would not mend.
      if (!(error instanceof FilingsError)) throw error;
      // 1 and not 0 after progress, because this attempt has failed as well.
      failures = (countNewBytes?.() ?? 0) >= MIN_PROGRESS_BYTES ? 1 : failures + 1;
      const decision = decideRetry(error, { failures, tries, previous }, policy, world);
      if (decision instanceof FilingsError) throw decision;
      previous = error;
      onRetry?.(decision);
      // The RateLimiter was paused when the response arrived, and makes the next request of every job wait. So a wait
      // that the service asks for needs no sleep here. One that another host asks for has paused nothing.
      if (!decision.isServiceWait || error.isOtherOrigin) await world.sleep(decision.waitMs, signal);
    }
  }
}

/** Omits the file, because it is shown next to the file's name. */
export function describeRetry({ error, waitMs, isServiceWait, retry, maxRetries }: RetryEvent): string {
  const message = messageOf(error.with({ subject: { resource: undefined } }));
  const serviceNote = isServiceWait ? ' (the service asks to wait)' : '';
  return `${message}${serviceNote}; retry ${retry} of ${maxRetries} in ${Math.max(1, Math.ceil(waitMs / 1000))} s`;
}

/**
 * RFC 9110, section 10.2.3: a number of seconds or a date. The response's own Date is on the clock that made that date,
 * so it is used instead of `now` if it is there. Returns milliseconds.
 */
export function parseRetryAfter({ 'retry-after': value, date }: HeaderFields, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : undefined;
  const until = parseHttpDate(value);
  if (seconds === undefined && until === undefined) return undefined;
  const waitMs = seconds === undefined ? Number(until) - (parseHttpDate(date) ?? now) : seconds * 1000;
  return Math.min(Math.max(0, waitMs), MAX_SERVICE_WAIT_MS);
}
