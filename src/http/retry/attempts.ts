import { sleep } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import type { Pace } from './pace.ts';
import { FRESH_START_BYTES, judge } from './retry.ts';

/** How hard to try. Times in milliseconds. */
export interface Persistence {
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

/**
 * Tries until it works or there is no more hope: `brought` tells how many
 * bytes the last attempt brought.
 * Throws the last failure, or the signal's reason.
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  persistence: Persistence,
  signal: AbortSignal,
  told: { brought?: () => number; onSetback?: (setback: Setback) => void } = {},
): Promise<T> {
  let failures = 0;
  for (;;) {
    await persistence.pace.turn(signal);
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof FilingsError)) throw error;
      failures = (told.brought?.() ?? 0) >= FRESH_START_BYTES ? 1 : failures + 1;
      const waitMs = waitOrThrow(error, failures, persistence);
      const asked = error.retryAt !== undefined;
      told.onSetback?.({ error, waitMs, asked, retry: failures, retries: persistence.retries });
      // What the service asks for holds for every job; our own back-off is this file's alone.
      if (asked) persistence.pace.pause(waitMs);
      await sleep(waitMs, signal);
    }
  }
}

function waitOrThrow(error: FilingsError, failures: number, persistence: Persistence): number {
  const { retries, maxRetryAfterMs, now, random } = persistence;
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
  throw error;
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
