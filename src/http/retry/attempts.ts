import { sleep } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import type { Pace } from './pace.ts';
import { FRESH_START_BYTES, judge } from './retry.ts';

/** How often to try again, and when. Times in milliseconds. */
export interface RetryPolicy {
  readonly retries: number;
  readonly maxRetryAfterMs: number;
  readonly pace: Pace;
  readonly now: () => number;
  readonly random: () => number;
}

/** Told before each wait. */
export interface Setback {
  readonly error: FilingsError;
  readonly waitMs: number;
  /** The service itself asked for the wait. */
  readonly asked: boolean;
  /** This further try's number, and how many there may be. */
  readonly retry: number;
  readonly retries: number;
}

/** What whoever tries tells and is told meanwhile. */
export interface Meanwhile {
  /** How many bytes the last attempt brought. */
  readonly brought?: (() => number) | undefined;
  readonly onSetback?: ((setback: Setback) => void) | undefined;
}

/** Tries until it works or there is no more hope. Throws the last failure, which says how many tries there were, or the signal's reason. */
export async function retrying<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
  { brought, onSetback }: Meanwhile = {},
): Promise<T> {
  let failures = 0;
  let tries = 0;
  for (;;) {
    await policy.pace.turn(signal);
    tries += 1;
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof FilingsError)) throw error;
      failures = (brought?.() ?? 0) >= FRESH_START_BYTES ? 1 : failures + 1;
      const waitMs = waitOrThrow(error, { failures, tries }, policy);
      const asked = error.retryAt !== undefined;
      onSetback?.({ error, waitMs, asked, retry: failures, retries: policy.retries });
      // What the service asks for holds for every job; our own back-off is this file's alone.
      if (asked) policy.pace.pause(waitMs);
      await sleep(waitMs, signal);
    }
  }
}

interface Tried {
  /** Since the count last began anew. */
  readonly failures: number;
  /** In all. */
  readonly tries: number;
}

function waitOrThrow(error: FilingsError, { failures, tries }: Tried, policy: RetryPolicy): number {
  const { retries, maxRetryAfterMs, now, random } = policy;
  const retryAfterMs = error.retryAt === undefined ? undefined : Math.max(0, error.retryAt - now());
  const verdict = judge({
    failures,
    retries,
    retryable: error.retryable,
    retryAfterMs,
    maxRetryAfterMs,
    random: random(),
  });
  if (verdict.kind === 'again') return verdict.waitMs;
  if (verdict.kind === 'too-long') throw tooLong(error, verdict.waitMs, maxRetryAfterMs);
  throw tries > 1 ? afterTries(error, tries) : error;
}

/** The last failure, which says how often it was tried. */
function afterTries(error: FilingsError, tries: number): FilingsError {
  return error.reworded(`${error.message}; ${tries} tries`, { cause: error.cause });
}

function tooLong(error: FilingsError, askedMs: number, maxMs: number): FilingsError {
  const asked = Math.ceil(askedMs / 1000);
  return error.reworded(`${error.message}: the service asks to wait ${asked} s`, {
    code: 'temporary',
    hint: `more than --max-retry-after allows (${maxMs / 1000} s): run it again after that time, or allow more`,
    cause: error,
    stopsRun: true,
  });
}
