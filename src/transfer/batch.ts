import { setMaxListeners } from 'node:events';
import { FilingsError } from '../errors.ts';
import type { Outcome, Wanted } from './outcome.ts';

/** This many files in a row that could not even connect: the service is not there. */
const UNREACHABLE_LIMIT = 10;

export interface BatchOptions {
  /** Files at the same time, at least 1. */
  readonly jobs: number;
  readonly signal: AbortSignal;
}

export interface BatchEnd {
  /** What stopped it before its end, if anything did. */
  readonly stoppedBy: FilingsError | undefined;
  /** By a signal or the deadline, not by a file's error. */
  readonly fromOutside: boolean;
  /** How many files were not tried, or broken off. */
  readonly undone: number;
}

/**
 * Fetches many files, some at a time. Goes on after a failed file, but not after what
 * would fail all the rest. `fetchOne` never throws for a file's own failure; `onOutcome`
 * hears of each file as it ends. Throws what `fetchOne` or `onOutcome` throw.
 */
export async function runBatch(
  wanted: readonly Wanted[],
  fetchOne: (wanted: Wanted, signal: AbortSignal) => Promise<Outcome>,
  onOutcome: (outcome: Outcome, brokenOff: boolean) => Promise<void>,
  { jobs, signal }: BatchOptions,
): Promise<BatchEnd> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const queue = wanted.values();
  let done = 0;
  let unreachable = 0;
  const work = async () => {
    for (const one of queue) {
      if (stop.signal.aborted) return;
      const outcome = await fetchOne(one, stop.signal);
      const brokenOff = stop.signal.aborted && outcome.error === stop.signal.reason;
      // By a signal or the deadline it is told of, by another file's error it is not this file's failure.
      if (brokenOff && !signal.aborted) return;
      if (!brokenOff) done += 1;
      unreachable = outcome.error?.connected === false ? unreachable + 1 : 0;
      await onOutcome(outcome, brokenOff);
      if (outcome.error?.stopsRun) stop.abort(outcome.error);
      else if (unreachable >= UNREACHABLE_LIMIT) stop.abort(notThere(outcome.error));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(jobs, wanted.length) }, work));
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  const stoppedBy = stop.signal.aborted ? stop.signal.reason : undefined;
  return { stoppedBy, fromOutside: signal.aborted, undone: wanted.length - done };
}

function notThere(last: FilingsError | undefined): FilingsError {
  return new FilingsError('temporary', `${UNREACHABLE_LIMIT} files in a row could not even connect`, {
    hint: last?.hint ?? 'run it again later',
    cause: last,
    stopsRun: true,
  });
}
