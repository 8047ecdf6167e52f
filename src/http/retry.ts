import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { httpDate } from './head.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** The first wait; doubled for each further one. Milliseconds. */
const FIRST_WAIT_MS = 1000;
const MAX_BACKOFF_MS = 60_000;
/** A century: whatever is asked for, the time it leads to must be a date. */
const MAX_ASKED_MS = 100 * 365 * 86_400_000;
/** A try that brought this much starts the count anew: the service works, the line is bad. */
const FRESH_START_BYTES = 1 << 20;
/** Statuses worth another try; every other one is final (docs/using.md, "Download"). */
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);

export function isRetriedStatus(status: number): boolean {
  return RETRIED.has(status);
}

/** How often to try again, and when. Times in milliseconds. */
export interface RetryPolicy extends Pick<World, 'monotonic' | 'now' | 'sleep' | 'random'> {
  readonly retries: number;
  readonly maxRetryAfterMs: number;
  readonly limiter: RateLimiter;
}

export interface RetryEvent {
  readonly error: FilingsError;
  readonly waitMs: number;
  /** The service itself asked for the wait. */
  readonly asked: boolean;
  /** The number of the try that follows, and how many there may be. */
  readonly retry: number;
  readonly retries: number;
}

export interface RetryWatcher {
  /** How many new bytes the last try brought. */
  readonly progress?: (() => number) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/**
 * Tries until it works or another try can't help. Throws the last failure, which says how many tries there were, or
 * the signal's reason.
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
      failures = (progress?.() ?? 0) >= FRESH_START_BYTES ? 1 : failures + 1;
      // From now on, whatever the machine's clock was set to meanwhile.
      const askedMs = error.retryDue === undefined ? undefined : Math.max(0, error.retryDue - policy.monotonic());
      // A name server that is out of order for a moment deserves one more try, a misspelt name no more than that.
      const isUnresolved = error.fault === 'unresolved-name';
      const retryable = error.retryable && !(isUnresolved && lastFault === error.fault);
      lastFault = error.fault;
      const waitMs = waitBeforeRetry({ ...policy, failures, retryable, askedMs, random: policy.random() });
      if (waitMs === undefined) throw tries > 1 ? error.with({ tries }) : error;
      if (waitMs > policy.maxRetryAfterMs && askedMs !== undefined) {
        const isRateLimited = error.problem?.status === 429;
        throw error.with({
          askedWaitMs: waitMs,
          code: 'temporary',
          hint: { advice: 'wait', longestMs: policy.maxRetryAfterMs, isRateLimited },
          stopsRun: true,
        });
      }
      const retries = isUnresolved ? failures : policy.retries;
      onRetry?.({ error, waitMs, asked: askedMs !== undefined, retry: failures, retries });
      // All jobs keep a wait that the service asks for (RateLimiter).
      if (askedMs === undefined) await policy.sleep(waitMs, signal);
    }
  }
}

/** What is known when a try has failed. */
export interface FailedTry extends Pick<RetryPolicy, 'retries' | 'maxRetryAfterMs'> {
  /** Tries that failed since the count last began anew, this one included. */
  readonly failures: number;
  readonly retryable: boolean;
  /** The wait that the service asks for, in milliseconds. */
  readonly askedMs: number | undefined;
  readonly random: number;
}

/**
 * How long to wait before another try; undefined: none follows. A wait that the service asks for may be longer than
 * `maxRetryAfterMs`, which ends the run, even where no try is left.
 */
export function waitBeforeRetry({ failures, retries, retryable, askedMs, ...failed }: FailedTry): number | undefined {
  if (!retryable || (failures > retries && (askedMs ?? 0) <= failed.maxRetryAfterMs)) return undefined;
  // With up to half as much again at random, so that many clients don't come back together.
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), MAX_BACKOFF_MS) * (1 + failed.random / 2);
  return askedMs ?? Math.round(backoff);
}

/**
 * Reads Retry-After (RFC 9110 section 10.2.3): seconds or a date, as milliseconds
 * from `now`. Nonsense and negative seconds are as absent; a date gone by is 0.
 */
export function retryAfterMs(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_ASKED_MS);
  const date = httpDate(text);
  return date === undefined ? undefined : Math.min(Math.max(0, date - now), MAX_ASKED_MS);
}
