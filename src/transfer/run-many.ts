import { setMaxListeners } from 'node:events';
import { FilingsError } from '../errors.ts';
import { StopRule } from './stop-rule.ts';
import { Trailing } from './trailing.ts';

/** The things of a run, as they come: an `Expansion`, or anything whose `next()` never waits long after `return()`. */
export interface Supply<Item> extends AsyncIterable<Item> {
  /** How many were not handed out; undefined while nobody knows. */
  left?(): number | undefined;
}

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
 * begins while it comes to its end, beside as many others as there are jobs. `onEnd` hears of each as it ends.
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
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  stop.signal.addEventListener('abort', () => source.close(stop.signal.reason), { once: true });
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const stops = new StopRule('files', again);
  let done = 0;
  let told = 0;
  const stopBy = (error: unknown) => {
    if (!(error instanceof FilingsError)) throw error;
    if (!stop.signal.aborted) stop.abort(error);
  };
  const deal = async (item: Item, arrived: () => void) => {
    let hasArrived = false;
    const end = await attempt(item, stop.signal, () => {
      hasArrived = true;
      // The service has given it: what is "in a row" goes by its answers, whatever the disk has still to do.
      stops.after(undefined);
      arrived();
    });
    if (end.limit) return source.close(end.limit);
    const brokenOff = stop.signal.aborted && end.error === stop.signal.reason;
    // By a signal or the deadline it is told of, by the error of another it is not this one's failure.
    if (brokenOff && !signal.aborted) return;
    if (brokenOff) told += 1;
    else done += 1;
    const saysNothing = end.error ? end.asked === false && !end.error.stopsRun : end.asked === false || hasArrived;
    const stopping = saysNothing ? undefined : stops.after(end.error);
    await onEnd(end, item, brokenOff).catch(stopBy);
    if (stopping) stopBy(stopping);
  };
  const trailing = new Trailing(jobs, (error) => stop.abort(error));
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
    stop.abort(error);
    // The caller is about to close what they work with.
    await Promise.allSettled(workers);
    await trailing.ended().catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    await source.closed;
  }
  const stoppedBy = stop.signal.aborted ? stop.signal.reason : source.closedBy;
  return { stoppedBy, fromOutside: signal.aborted, done, brokenOff: told, undone: stoppedBy && source.undone(done) };
}

/** What the workers take from, until it is at its end or closed. */
class Source<Item> {
  readonly #items: Supply<Item>;
  readonly #iterator: AsyncIterator<Item>;
  #taken = 0;
  #left: number | undefined;
  /** Why no more is taken. */
  closedBy: FilingsError | undefined;
  /** Resolves when the supply has let go of what it held. */
  closed: Promise<unknown> = Promise.resolve();

  constructor(items: Supply<Item>) {
    this.#items = items;
    this.#iterator = items[Symbol.asyncIterator]();
  }

  /** The next one; undefined when none is to be begun. */
  async next(): Promise<{ readonly item: Item } | undefined> {
    if (this.closedBy) return undefined;
    try {
      const { value, done } = await this.#iterator.next();
      if (done) return undefined;
      this.#taken += 1;
      return this.closedBy ? undefined : { item: value };
    } catch (error) {
      if (this.closedBy) return undefined;
      if (!(error instanceof FilingsError)) throw error;
      this.close(error);
      return undefined;
    }
  }

  close(reason: FilingsError): void {
    if (this.closedBy) return;
    this.closedBy = reason;
    this.#left = this.#items.left?.();
    // What it can't let go of is no reason to fail: the run has one already.
    this.closed = Promise.resolve(this.#iterator.return?.()).catch(() => {});
  }

  /** How many of all there were did not come to their end, of which `done` did. */
  undone(done: number): number | undefined {
    return this.#left === undefined ? undefined : this.#left + this.#taken - done;
  }
}
