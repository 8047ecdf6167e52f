import { setMaxListeners } from 'node:events';
import type { FilingsError } from '../errors.ts';
import type { Outcome, Wanted } from './outcome.ts';
import { StopRule } from './stop-rule.ts';

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
  const stops = new StopRule('files');
  const work = async () => {
    for (const one of queue) {
      if (stop.signal.aborted) return;
      const outcome = await fetchOne(one, stop.signal);
      const brokenOff = stop.signal.aborted && outcome.error === stop.signal.reason;
      // By a signal or the deadline it is told of, by another file's error it is not this file's failure.
      if (brokenOff && !signal.aborted) return;
      if (!brokenOff) done += 1;
      const stopping = stops.after(outcome.error);
      await onOutcome(outcome, brokenOff);
      if (stopping) stop.abort(stopping);
    }
  };
  const workers = Array.from({ length: Math.min(jobs, wanted.length) }, work);
  try {
    await Promise.all(workers);
  } catch (error) {
    stop.abort(error);
    // The caller is about to close what they work with.
    await Promise.allSettled(workers);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  const stoppedBy = stop.signal.aborted ? stop.signal.reason : undefined;
  return { stoppedBy, fromOutside: signal.aborted, undone: wanted.length - done };
}
