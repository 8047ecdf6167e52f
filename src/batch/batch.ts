// Runs a batch: plans what to do about each file that the selection yields, carries the plan out, and tells the
// recorder the outcome. A failed file does not stop a batch. A batch stops in one of two ways:
// - It cancels the downloads in progress, after a signal, the deadline, or an error that would fail all other files.
// - It only starts no more downloads, after a limit is reached or the input cannot be read further.
import { onAbort, startTimer, yieldToEventLoop } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { Download, type DownloadContext } from '../transfer/download.ts';
import { makeOutcome, type Outcome } from '../transfer/outcome.ts';
import type { Target } from '../transfer/plan.ts';
import type { Counts } from './counts.ts';
import type { FileItem, Item } from './item.ts';
import type { Recorder } from './recorder.ts';
import type { Selection } from './selection.ts';
import { type BatchEnd, createStopRule } from './verdict.ts';

// A download uses one of `--jobs` only while it needs the service. When all bytes of a small file have arrived, the
// next download starts while the small file is flushed. Otherwise the latency of the service and of the flushes would
// add up. With `--jobs 1` there is no such overlap, so files end in the order of the input.
/** Files without a job that may be flushed at the same time: for each job after the first, and in total. */
const MAX_FLUSHING_PER_JOB = 4;
const MAX_FLUSHING = 64;
/** How long existing files may block the event loop, in milliseconds, before it lets others have their turn. */
const MAX_SLICE_MS = 10;
/** A larger file keeps its job until it is flushed. */
const MAX_FLUSHING_BYTES = 1 << 20;

interface BatchOptions {
  readonly selection: Selection;
  readonly counts: Counts;
  readonly jobs: number;
  readonly context: DownloadContext;
  /**
   * Aborts the signal of the context, which cancels the downloads in progress and starts no more. Only the first reason
   * applies, and it outranks that of a `#drain`.
   */
  readonly cancel: (reason: unknown) => void;
  readonly findTarget: (file: FileItem) => Target;
  readonly recorder: Recorder;
}

export class Batch {
  readonly #options: BatchOptions;
  readonly #signal: AbortSignal;
  readonly #running = new Map<Download, Promise<void>>();
  /** Those of the running downloads that use a job. */
  readonly #usingJob = new Set<Download>();
  readonly #stopRule = createStopRule('file');
  /** Why no more downloads start, although those in progress end normally. */
  #drainReason: FilingsError | undefined;
  #isWaitingForItems = false;
  /** Called when a job is free or the batch stops. One is enough: `#processAll` waits for one thing at a time. */
  #wake: () => void = () => {};

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#signal = options.context.signal;
  }

  /** Returns why the batch stopped, if it did, and how much it left. Throws only if this program has a bug. */
  async run(): Promise<BatchEnd> {
    const { recorder, counts, cancel, selection } = this.#options;
    const { world } = this.#options.context;
    const unsubscribe = onAbort(this.#signal, () => this.#wake());
    const { msToLimit } = counts;
    const stopTimer =
      msToLimit === undefined ? undefined : startTimer(msToLimit, world.sleep, () => this.#stopWaitingAtLimit());
    await this.#processAll().catch(cancel);
    await Promise.all(this.#running.values());
    stopTimer?.();
    await recorder.finish().catch(cancel);
    unsubscribe();
    const stoppedBy: unknown = this.#signal.reason ?? this.#drainReason;
    if (stoppedBy === undefined) return { stoppedBy, notStarted: { files: 0, filings: 0 } };
    if (!(stoppedBy instanceof FilingsError)) throw stoppedBy;
    // How much is left is known only if the input has been read to its end.
    await selection.waitForEnd(world.sleep);
    return { stoppedBy, notStarted: counts.notStarted };
  }

  async #processAll(): Promise<void> {
    const { recorder, context, selection } = this.#options;
    const { world } = context;
    const items = selection.items();
    let sliceStart = world.monotonic();
    for (;;) {
      this.#isWaitingForItems = true;
      this.#stopWaitingAtLimit();
      const next = await this.#unlessStopped(items.next()).catch((error) => {
        if (!(error instanceof FilingsError)) throw error;
        this.#drain(error);
      });
      this.#isWaitingForItems = false;
      if (!next || next.done || this.#isStopped) return;
      for (const item of next.value) {
        // Thousands of existing files in a row need no wait. SIGINT and timers must have their turn in between.
        if (world.monotonic() - sliceStart > MAX_SLICE_MS) {
          await yieldToEventLoop(this.#signal);
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
      this.#wake = () => {
        if (this.#isStopped) resolve(undefined);
      };
      work.then(resolve, reject);
    });
  }

  get #isStopped(): boolean {
    return this.#signal.aborted || this.#drainReason !== undefined;
  }

  /**
   * If a limit is reached, ends the wait for the next line of the input, which may be a slow stdin. A moment is left
   * for an input that ends by itself: then nothing is left to do, and the limit does not matter. A listing in progress
   * is awaited.
   */
  async #stopWaitingAtLimit(): Promise<void> {
    const { counts, context, selection } = this.#options;
    const isStuck = () => this.#isWaitingForItems && counts.pendingListings === 0 && !counts.hasInputEnded;
    if (!isStuck() || !counts.limitError) return;
    await selection.waitForEnd(context.world.sleep);
    if (isStuck()) this.#drain(counts.limitError);
  }

  #process(item: Item): Promise<void> | void {
    if (item.kind === 'cancelled') return this.#drain(item.error);
    const attempts = item.kind === 'unlisted' ? (item.error.tries ?? 1) : 0;
    const failure =
      'error' in item ? makeOutcome({ result: 'failed', bytes: 0, attempts, error: item.error }) : undefined;
    if (item.kind !== 'file') return this.#record(item, failure);
    const target = this.#options.findTarget(item);
    const download = new Download(item, target, this.#options.context);
    const outcome = download.endAtOnce();
    if (outcome) return this.#record(item, outcome);
    if (download.mayTakeLong) return this.#start(item, download);
    // This skip still has to flush the directory or remove a kept part. The next file is planned only after that,
    // because in a flushed directory its skip needs no work.
    return download.run().then((ended) => this.#record(item, ended));
  }

  /** Starts a file as soon as a job is free, and does not wait for its end. Does nothing if the batch stops first. */
  async #start(item: FileItem, download: Download): Promise<void> {
    const { jobs, counts } = this.#options;
    const maxRunning = jobs + Math.min(MAX_FLUSHING, MAX_FLUSHING_PER_JOB * (jobs - 1));
    while (!this.#isStopped && (this.#usingJob.size >= jobs || this.#running.size >= maxRunning)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const { limitError } = counts;
    if (download.needsRequest && limitError) this.#drain(limitError);
    // Not recorded, so the file is one of those that were not started.
    if (this.#isStopped) return;
    this.#usingJob.add(download);
    const releaseJob = () => {
      this.#usingJob.delete(download);
      this.#wake();
    };
    const onArrived = (bytes: number) => {
      this.#stopRule.recordArrival();
      if (bytes <= MAX_FLUSHING_BYTES) releaseJob();
    };
    const running = download
      .run(onArrived)
      .then((outcome) => this.#record(item, outcome))
      .catch(this.#options.cancel)
      .then(() => {
        this.#running.delete(download);
        releaseJob();
        return this.#stopWaitingAtLimit();
      });
    this.#running.set(download, running);
  }

  #record(item: Item, outcome: Outcome | undefined): void {
    const { recorder } = this.#options;
    // Its error has stopped the batch.
    if (outcome?.result === 'unfinished') {
      recorder.record(item, outcome, true);
      return;
    }
    const error = outcome?.error;
    // A file that was neither requested nor to be written does not end a row of equal errors.
    const wasRequested = (outcome?.attempts ?? 0) > 0;
    if (outcome?.result === 'skipped') this.#stopRule.recordSkip();
    const isCounted = wasRequested || error?.failedDirectory !== undefined || error?.stopsRun;
    const stopError = isCounted ? this.#stopRule.record(error) : undefined;
    // The rule may return another error, such as `403 for 20 files in a row`. Then this file's error is printed now.
    const isPrintedLater = stopError !== undefined && stopError === error;
    recorder.record(item, outcome, isPrintedLater);
    if (stopError) this.#options.cancel(stopError);
  }

  /** Starts no more downloads, but lets those in progress end. A later reason is ignored. */
  #drain(reason: FilingsError): void {
    this.#drainReason ??= reason;
    this.#wake();
  }
}
