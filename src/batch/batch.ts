// Runs a batch. The selection yields items: files, and those filings and lines of the input from which no file came.
// (For a whole filing, the selection requests its listing, which is the service's list of its files.) For each file,
// the batch plans what to do, such as to download it or to skip it, and carries the plan out. The recorder prints and
// counts the outcome. A failed file does not stop a batch. A batch stops in one of two ways:
// - It cancels the downloads in progress, after a signal, the deadline, or an error that would fail all other files.
// - It only starts no more downloads, after a limit is reached or the input cannot be read further.
import { setImmediate } from 'node:timers/promises';
import { createAbortController, MAX_SLICE_MS, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { type Outcome, outcomeWithoutRequest } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import { carryOut, type FileDeps, outcomeWithoutWork, type PlannedFile, planFile } from './files.ts';
import type { Item } from './item.ts';
import type { Recorder } from './recorder.ts';
import { Selection, type SelectionOptions } from './selection.ts';
import { type BatchEnd, StopRule } from './verdict.ts';

// A download uses one of `--jobs` only while it needs the service. When all bytes of a small file have arrived, the
// next download starts while the small file is flushed. Otherwise the latency of the service and of the flushes would
// add up. With `--jobs 1` there is no such overlap, so files end in the order of the input.
/** How many files without a job may be flushed at the same time: for each job after the first, and in total. */
const MAX_FLUSHING_PER_JOB = 4;
const MAX_FLUSHING = 64;
/** A larger file keeps its job until it is flushed. */
const MAX_FLUSHING_BYTES = 1 << 20;

interface BatchOptions {
  readonly selection: SelectionOptions;
  readonly fileDeps: FileDeps;
  readonly recorder: Recorder;
  /** Aborts on SIGINT, SIGTERM or SIGHUP, and at the deadline. */
  readonly signal: AbortSignal;
  readonly world: Pick<World, 'monotonic' | 'sleep'>;
}

export class Batch {
  readonly #selection: Selection;
  readonly #options: BatchOptions;
  readonly #running = new Map<PlannedFile, Promise<void>>();
  /** Those of the running files that use a job. */
  readonly #usingJob = new Set<PlannedFile>();
  /** Aborts to cancel the downloads in progress. */
  readonly #cancellation = createAbortController();
  /** Decides which failure stops the batch, such as the 20th 403 in a row. `file` is the noun in its messages. */
  readonly #stopRule = new StopRule('file');
  /** Why no more downloads start, although those in progress end normally. */
  #drainReason: FilingsError | undefined;
  /** Number of recorded files. As in the tally, a failed listing or an invalid line is one file. */
  #recorded = 0;
  /** Wakes `#start` after a job is free or the batch stops. One callback is enough: `#processAll` awaits each call. */
  #wakeStart = () => {};
  /** Ends the wait of `#unlessStopped`. One callback is enough here as well: `#processAll` awaits each call. */
  #onStop = () => {};

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#selection = new Selection(options.selection, this.#cancellation.signal);
    options.recorder.onError = (error) => this.#cancel(error);
  }

  get tally() {
    return this.#selection.tally;
  }

  /** Returns why the batch stopped, if it did, and how many files it left. Throws only if this program has a bug. */
  async run(): Promise<BatchEnd> {
    const { signal, recorder, world } = this.#options;
    const unsubscribe = onAbort(signal, (reason) => this.#cancel(reason));
    await this.#processAll().catch((error) => this.#cancel(error));
    await Promise.all(this.#running.values());
    await recorder.finish().catch((error) => this.#cancel(error));
    unsubscribe();
    const stoppedBy: unknown = this.#cancellation.signal.reason ?? this.#drainReason;
    if (stoppedBy === undefined) return { stoppedBy, notStarted: 0 };
    if (!(stoppedBy instanceof FilingsError)) throw stoppedBy;
    // The number of files that are left is known only if the input has been read to its end.
    await this.#selection.readAhead.waitForEnd(world.sleep);
    // The listings of `pending` filings have not arrived, so each of these filings adds one.
    const { files, pending, hasInputEnded } = this.tally;
    return { stoppedBy, notStarted: hasInputEnded ? files + pending - this.#recorded : undefined };
  }

  async #processAll(): Promise<void> {
    const { recorder, world } = this.#options;
    const items = this.#selection.items();
    let sliceStart = world.monotonic();
    for (;;) {
      const next = await this.#unlessStopped(items.next()).catch((error) => {
        if (!(error instanceof FilingsError)) throw error;
        this.#drain(error);
      });
      if (!next || next.done || this.#isStopped) return;
      for (const item of next.value) {
        // Thousands of existing files in a row need no wait. SIGINT and timers must have their turn in between.
        if (world.monotonic() - sliceStart > MAX_SLICE_MS) {
          await setImmediate();
          sliceStart = world.monotonic();
        }
        if (recorder.hasBacklog) await recorder.flush();
        // `#process` returns no promise if an existing file needs no work, because awaiting one for each takes time.
        const processing = this.#process(item);
        if (processing) await processing;
        if (this.#isStopped) return;
      }
    }
  }

  /**
   * Returns the result of `work`, or undefined as soon as the batch stops. It does not use `Promise.race` with one
   * promise for the whole batch, because that promise would keep the results of all calls in memory.
   */
  #unlessStopped<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#onStop = () => resolve(undefined);
      work.then(resolve, reject);
    });
  }

  get #isStopped(): boolean {
    return this.#cancellation.signal.aborted || this.#drainReason !== undefined;
  }

  #process(item: Item): Promise<void> | void {
    const { fileDeps } = this.#options;
    if (item.kind !== 'file') return this.#record(item, failedOutcome(item));
    const planned = planFile(item, fileDeps);
    const decided = outcomeWithoutWork(planned, fileDeps);
    if (decided) return this.#record(item, decided);
    // A plan that hashes an existing file is started like a download, because both take time.
    if (planned.plan.kind !== 'skip') return this.#start(planned);
    // This skip still has to flush the directory or remove the file's part (a partial download that an earlier run
    // left). The next file is planned only after that, because in a flushed directory its skip needs no work.
    return carryOut(planned, fileDeps, this.#cancellation.signal).then((outcome) => this.#record(item, outcome));
  }

  get #isFull(): boolean {
    const { jobs } = this.#options.selection;
    const maxRunning = jobs + Math.min(MAX_FLUSHING, MAX_FLUSHING_PER_JOB * (jobs - 1));
    return this.#usingJob.size >= jobs || this.#running.size >= maxRunning;
  }

  /** Starts a file as soon as a job is free, and does not wait for its end. Does nothing if the batch stops first. */
  async #start(planned: PlannedFile): Promise<void> {
    const { fileDeps } = this.#options;
    while (!this.#isStopped && this.#isFull) {
      await new Promise<void>((resolve) => {
        this.#wakeStart = resolve;
      });
    }
    // The first download after a limit is reached stops the batch. Hashing an existing file does not, because it sends
    // no request.
    if (planned.plan.kind === 'fetch' && fileDeps.limits.reachedError) this.#drain(fileDeps.limits.reachedError);
    // The file is not recorded, so it is one of those that were not started.
    if (this.#isStopped) return;
    this.#usingJob.add(planned);
    const releaseJob = () => {
      this.#usingJob.delete(planned);
      this.#wakeStart();
    };
    const onFetched = (bytes: number) => {
      // Records a success (no error) now and not when the file ends, because files that are requested later may end
      // earlier.
      this.#stopRule.record(undefined);
      if (bytes <= MAX_FLUSHING_BYTES) releaseJob();
    };
    const running = carryOut(planned, fileDeps, this.#cancellation.signal, onFetched)
      .then((outcome) => this.#record(planned.item, outcome))
      .catch((error) => this.#cancel(error))
      .then(() => {
        this.#running.delete(planned);
        releaseJob();
      });
    this.#running.set(planned, running);
  }

  #record(item: Item, outcome: Outcome | undefined): void {
    const { recorder } = this.#options;
    const error = outcome?.error;
    // After a limit is reached, a listing fails with the limit's error instead of being requested.
    if (item.kind === 'unlisted' && error?.code === 'limit') this.#drain(error);
    // What was cancelled, or prevented by a limit, fails with the very error that stopped the batch. Such a file is
    // unfinished. Such a listing is not recorded, so its filing is one of those not started.
    const isCancelled = error && error === (this.#cancellation.signal.reason ?? this.#drainReason);
    if (isCancelled && item.kind === 'unlisted') return;
    // The tally has no file for a duplicate (a file that came earlier in the run), nor for a filing of which no file is
    // selected.
    if (item.kind !== 'duplicate' && item.kind !== 'unmatched') this.#recorded += 1;
    if (isCancelled) {
      // The recorder does not print this error, because it is printed at the end as the error of the run.
      recorder.record(item, { ...outcome, result: 'unfinished' }, true);
      return;
    }
    const wasRequested = item.kind === 'unlisted' || (outcome?.attempts ?? 0) > 0;
    // The rule counts errors in a row, such as 403, and any other error ends the row. But the error of a file that was
    // never requested shows nothing about the service, so the rule is not told of it.
    const stopError = error && (wasRequested || error.stopsRun) ? this.#stopRule.record(error) : undefined;
    // The rule may return another error, such as `403 for 20 files in a row`. Then this file's error is printed as
    // well.
    const isPrintedLater = stopError !== undefined && stopError === error;
    recorder.record(item, outcome, isPrintedLater);
    if (stopError) this.#cancel(stopError);
  }

  /** Starts no more downloads, but lets those in progress end. A later reason is ignored. */
  #drain(reason: FilingsError): void {
    this.#drainReason ??= reason;
    this.#onStop();
    this.#wakeStart();
  }

  /**
   * Cancels the downloads in progress and starts no more. `run` reports the first reason given here, even after a
   * `#drain`.
   */
  #cancel(reason: unknown): void {
    this.#cancellation.abort(reason);
    this.#onStop();
    this.#wakeStart();
  }
}

/** Returns undefined for a duplicate and for a filing of which no file is selected, because neither is a failure. */
function failedOutcome(item: Item): Outcome | undefined {
  return 'error' in item ? outcomeWithoutRequest('failed', null, 0, item.error) : undefined;
}
