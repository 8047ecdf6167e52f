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
      const askedMs = askedFor(error, policy);
      const waitMs = waitOrThrow(error, { failures, tries, askedMs }, policy);
      onSetback?.({ error, waitMs, asked: askedMs !== undefined, retry: failures, retries: policy.retries });
      // Our own back-off is this file's alone; what the service asks for, every job keeps (Pace).
      await sleep(waitMs, signal);
    }
  }
}

interface Tried {
  /** Since the count last began anew. */
  readonly failures: number;
  /** In all. */
  readonly tries: number;
  /** The wait that the service asked for. */
  readonly askedMs: number | undefined;
}

/** The wait that the service asked for, from now on, whatever the machine's clock was set to meanwhile; undefined when it did not. */
function askedFor({ retryDue }: FilingsError, { pace }: RetryPolicy): number | undefined {
  return retryDue === undefined ? undefined : Math.max(0, retryDue - pace.now());
}

function waitOrThrow(error: FilingsError, { failures, tries, askedMs }: Tried, policy: RetryPolicy): number {
  const { retries, maxRetryAfterMs, random } = policy;
  const verdict = judge({
    failures,
    retries,
    retryable: error.retryable,
    retryAfterMs: askedMs,
    maxRetryAfterMs,
    random: random(),
  });
  if (verdict.kind === 'again') return verdict.waitMs;
  if (verdict.kind === 'too-long') {
    const stop = tooLong(error, verdict.waitMs, maxRetryAfterMs);
    // A listing that is asked for ahead ends the run only when it is its turn: until then nobody else asks.
    policy.pace.stop(stop);
    throw stop;
  }
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
