// Runs a batch: takes items from the selection, follows the plan of each file, and passes the results to the recorder.
// A failed file does not end the batch; a signal, a limit or an error that all further files would have does.
import { setImmediate } from 'node:timers/promises';
import { createAbortController, MAX_SLICE_MS, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { type Outcome, outcomeWithoutRequest } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import { decidedOutcome, type FileDeps, type PlannedFile, planOf, save } from './files.ts';
import type { Item } from './item.ts';
import type { Recorder } from './recorder.ts';
import { Selection, type SelectionOptions } from './selection.ts';
import { type BatchEnd, StopRule } from './verdict.ts';

/**
 * One of `--jobs` is held while a file needs the service. A small file whose bytes have all arrived needs only the
 * disk. It is completed while the next files download, because otherwise the latency of the service and the flushes of the
 * disk would add up. With a single job, files end in the order of the input.
 */
const MAX_COMPLETING_PER_JOB = 4;
const MAX_COMPLETING = 64;
const MAX_COMPLETING_BYTES = 1 << 20;

interface BatchOptions {
  readonly selection: SelectionOptions;
  readonly files: FileDeps;
  readonly recorder: Recorder;
  /** Aborts on a signal of the system and at the deadline. */
  readonly signal: AbortSignal;
  readonly world: Pick<World, 'monotonic' | 'sleep'>;
}

/** One run over all items of a selection. */
export class Batch {
  readonly #selection: Selection;
  readonly #options: BatchOptions;
  readonly #running = new Map<PlannedFile, Promise<void>>();
  /** The running files that hold a job. */
  readonly #fetching = new Set<PlannedFile>();
  readonly #stop = createAbortController();
  readonly #rule: StopRule;
  /** The error after which nothing more starts, although downloads in progress end normally. */
  #closeReason: FilingsError | undefined;
  /** Number of files that have started or ended. */
  #handled = 0;
  #wake = () => {};
  #end = () => {};

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#selection = new Selection(options.selection, this.#stop.signal);
    this.#rule = new StopRule('file');
    options.recorder.onError = (error) => this.#stopBy(error);
  }

  /** What is known about the files of the run. */
  get tally() {
    return this.#selection.tally;
  }

  /** Returns why and how the batch ended. Throws only defects. */
  async run(): Promise<BatchEnd> {
    const { signal, recorder, world } = this.#options;
    const unsubscribe = onAbort(signal, (reason) => this.#stopBy(reason));
    await this.#processAll().catch((error) => this.#stopBy(error));
    await Promise.all(this.#running.values());
    await recorder.finish().catch((error) => this.#stopBy(error));
    unsubscribe();
    const stoppedBy: unknown = this.#stop.signal.reason ?? this.#closeReason;
    if (stoppedBy === undefined) return { stoppedBy, notStarted: 0 };
    if (!(stoppedBy instanceof FilingsError)) throw stoppedBy;
    await this.#selection.ahead.waitForInput(world.sleep);
    const { files, pending, isRead } = this.tally;
    return { stoppedBy, notStarted: isRead ? files + pending - this.#handled : undefined };
  }

  async #processAll(): Promise<void> {
    const { recorder, world } = this.#options;
    const items = this.#selection.items();
    let sliceStart = world.monotonic();
    for (;;) {
      const next = await this.#orEnd(items.next()).catch((error) => {
        if (!(error instanceof FilingsError)) throw error;
        this.#close(error);
      });
      if (!next || next.done || this.#isStopped) return;
      for (const item of next.value) {
        if (world.monotonic() - sliceStart > MAX_SLICE_MS) {
          await setImmediate();
          sliceStart = world.monotonic();
        }
        if (recorder.hasBacklog) await recorder.flush();
        // No promise if there is nothing to wait for, because a promise for each existing file costs time.
        const processing = this.#process(item);
        if (processing) await processing;
        if (this.#isStopped) return;
      }
    }
  }

  /** Returns undefined once nothing more starts. `Promise.race` would keep the result of each call in memory. */
  #orEnd<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#end = () => resolve(undefined);
      work.then(resolve, reject);
    });
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted || this.#closeReason !== undefined;
  }

  #process(item: Item): Promise<void> | void {
    const { files } = this.#options;
    if (item.kind !== 'file') return this.#record(item, failureOf(item));
    const planned = planOf(item, files);
    const outcome = decidedOutcome(planned, files);
    if (outcome) return this.#record(item, outcome);
    if (planned.plan.kind !== 'skip') return this.#start(planned);
    // Waits here, so that the next files reuse the facts about the directory.
    return save(planned, files, this.#stop.signal).then((kept) => this.#record(item, kept));
  }

  get #isFull(): boolean {
    const { jobs } = this.#options.selection;
    const most = jobs + Math.min(MAX_COMPLETING, MAX_COMPLETING_PER_JOB * (jobs - 1));
    return this.#fetching.size >= jobs || this.#running.size >= most;
  }

  async #start(planned: PlannedFile): Promise<void> {
    const { files } = this.#options;
    while (!this.#isStopped && this.#isFull) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (planned.plan.kind === 'fetch' && files.limits.reached) this.#close(files.limits.reached);
    if (this.#isStopped) return;
    this.#fetching.add(planned);
    const release = () => {
      this.#fetching.delete(planned);
      this.#wake();
    };
    const onFetched = (bytes: number) => {
      // The rule counts responses in their order. Files that are requested later may end before this one.
      this.#rule.check(undefined);
      if (bytes <= MAX_COMPLETING_BYTES) release();
    };
    const running = save(planned, files, this.#stop.signal, onFetched)
      .then((outcome) => this.#record(planned.item, outcome))
      .catch((error) => this.#stopBy(error))
      .then(() => {
        this.#running.delete(planned);
        release();
      });
    this.#running.set(planned, running);
  }

  #record(item: Item, outcome: Outcome | undefined): void {
    const { recorder } = this.#options;
    const error = outcome?.error;
    if (item.kind === 'unlisted' && error?.code === 'limit') this.#close(error);
    const isStopReason = error && error === (this.#stop.signal.reason ?? this.#closeReason);
    // A listing that the end of the run has cancelled was not started, but a file was in progress.
    if (isStopReason && item.kind === 'unlisted') return;
    if (item.kind !== 'duplicate' && item.kind !== 'unmatched') this.#handled += 1;
    if (isStopReason) {
      recorder.record(item, { ...outcome, result: 'unfinished' }, true);
      return;
    }
    const isRequested = item.kind === 'unlisted' || (outcome?.attempts ?? 0) > 0;
    // A file that was not requested says nothing about whether the service can be reached.
    const stopError = error && (isRequested || error.stopsRun) ? this.#rule.check(error) : undefined;
    recorder.record(item, outcome, stopError !== undefined && stopError === error);
    if (stopError) this.#stopBy(stopError);
  }

  /** Starts nothing more. Only the first reason counts. */
  #close(reason: FilingsError): void {
    this.#closeReason ??= reason;
    this.#end();
    this.#wake();
  }

  /** Cancels the downloads in progress. Only the first reason counts. */
  #stopBy(error: unknown): void {
    this.#stop.abort(error);
    this.#end();
    this.#wake();
  }
}

function failureOf(item: Item): Outcome | undefined {
  return 'error' in item ? outcomeWithoutRequest('failed', null, 0, item.error) : undefined;
}
