import type { FilingsError } from '../../errors.ts';
import { Source, type Supply } from './source.ts';
import { Stop } from './stop.ts';
import { StopRule } from './stop-rule.ts';
import { Trailing } from './trailing.ts';

/** How one of them ended. */
export interface Ending {
  readonly error?: FilingsError | undefined;
  /** False: the service was not asked, so that this says nothing of whether it is there. */
  readonly asked?: boolean;
  /** A limit is reached: this one was not begun, no other begins, and those under way end well. */
  readonly limit?: FilingsError;
}

export interface RunOptions {
  /** At the same time, at least 1. */
  readonly jobs: number;
  readonly signal: AbortSignal;
  /** Words a command of this program so that it asks the same service. */
  readonly again?: ((command: string) => string) | undefined;
}

export interface RunEnd {
  /** What stopped it before its end, if anything did. */
  readonly stoppedBy: FilingsError | undefined;
  /** By a signal or the deadline, not by an error of one of them or a limit. */
  readonly fromOutside: boolean;
  /** How many were tried to their end. */
  readonly done: number;
  /** How many were broken off by a signal or the deadline, and told of. */
  readonly brokenOff: number;
  /** How many were not tried, or broken off; undefined when nobody knows: the input was not read to its end. */
  readonly undone: number | undefined;
}

/**
 * Works through what comes, some at a time. Goes on after one that failed, but not after what would
 * fail all the rest. `attempt` never throws for a failure of its own, and may say that it has `arrived`: the next one
 * begins while it comes to its end, beside as many others as there are jobs, unless there is one. `onEnd` hears of each as it ends.
 * What the supply throws as a FilingsError ends the run as a limit does; what `onEnd` throws as one
 * stops it. Throws what `attempt` throws, and any other error of the supply or of `onEnd`.
 */
export async function runMany<Item, End extends Ending>(
  items: Supply<Item>,
  attempt: (item: Item, signal: AbortSignal, arrived: () => void) => Promise<End>,
  onEnd: (end: End, item: Item, brokenOff: boolean) => Promise<void>,
  { jobs, signal, again }: RunOptions,
): Promise<RunEnd> {
  const source = new Source(items);
  const stop = new Stop(source, signal);
  const stops = new StopRule('files', again);
  let [done, told] = [0, 0];
  const deal = async (item: Item, arrived: () => void) => {
    let hasArrived = false;
    const end = await attempt(item, stop.signal, () => {
      hasArrived = true;
      // The service has given it: what is "in a row" goes by its answers, whatever the disk has still to do.
      stops.after(undefined);
      arrived();
    });
    if (end.limit) return source.close(end.limit);
    const brokenOff = stop.hasBroken(end.error);
    // By a signal or the deadline it is told of, by the error of another it is not this one's failure.
    if (brokenOff && !signal.aborted) return;
    if (brokenOff) told += 1;
    else done += 1;
    const stopping = saysNothing(end, hasArrived) ? undefined : stops.after(end.error);
    await onEnd(end, item, brokenOff).catch((error) => stop.by(error));
    if (stopping) stop.by(stopping);
  };
  await workThrough(source, deal, jobs, stop);
  const stoppedBy = stop.reason ?? source.closedBy;
  return { stoppedBy, fromOutside: signal.aborted, done, brokenOff: told, undone: stoppedBy && source.undone(done) };
}

/** Whether an ending says nothing of whether the service is there, or nothing that was not known when its bytes were here. */
function saysNothing({ error, asked }: Ending, hasArrived: boolean): boolean {
  return error ? asked === false && !error.stopsRun : asked === false || hasArrived;
}

/** Some at a time, and beside them as many that come to their end. Throws what `deal` throws, when all have ended. */
async function workThrough<Item>(
  source: Source<Item>,
  deal: (item: Item, arrived: () => void) => Promise<void>,
  jobs: number,
  stop: Stop,
): Promise<void> {
  // One job means one after the other, in their order.
  const trailing = new Trailing(jobs === 1 ? 0 : jobs, (error) => stop.at(error));
  const work = async () => {
    for (let next = await source.next(); next; next = await source.next()) {
      const { item } = next;
      await trailing.untilArrived((arrived) => deal(item, arrived));
    }
  };
  const workers = Array.from({ length: jobs }, work);
  try {
    await Promise.all(workers);
    await trailing.ended();
  } catch (error) {
    stop.at(error);
    // The caller is about to close what they work with. A worker may still leave something behind as it ends.
    await Promise.allSettled(workers);
    await trailing.ended().catch(() => {});
    throw error;
  } finally {
    stop.release();
    await source.closed;
  }
}
