// Runs a batch: takes items from the selection, follows the plan of each file, and passes the results to the recorder.
// A failed file does not end the batch; a signal, a limit or an error that all further files would have does.
import { setImmediate } from 'node:timers/promises';
import { createAbortController, MAX_SLICE_MS, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import type { Line } from '../input/lines.ts';
import { type FilePlan, isFetch } from '../transfer/file-plan.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import { executePlan, type FileDeps, makePlan, outcomeOf } from './files.ts';
import type { FileItem, Item } from './item.ts';
import { JobSlots } from './job-slots.ts';
import type { Limits } from './limits.ts';
import type { Recorder } from './recorder.ts';
import { Selection, type SelectionOptions } from './selection.ts';
import { type BatchEnd, StopRule } from './verdict.ts';

/** Time for counting the rest of the input after the run was stopped, in milliseconds. */
export const MAX_COUNTING_MS = 500;

export interface BatchOptions {
  readonly input: AsyncIterable<readonly Line[]>;
  readonly selection: Omit<SelectionOptions, 'wake'>;
  readonly files: FileDeps;
  readonly recorder: Recorder;
  readonly limits: Limits;
  /** Completes a command for a hint with the options for the same service. */
  readonly hintCommand: (command: string) => string;
  /** Called for each error that stops the run, or would stop it if an earlier error had not. */
  readonly noteFailure: (error: unknown) => void;
  /** Aborts on a signal of the system and at the deadline. */
  readonly signal: AbortSignal;
  readonly world: Pick<World, 'monotonic' | 'sleep'>;
}

/** One run over all items of a selection. */
export class Batch {
  readonly #options: BatchOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #slots: JobSlots;
  readonly #stop = createAbortController();
  readonly #rule: StopRule;
  readonly selection: Selection;
  /** The error after which nothing more starts, although downloads in progress end normally. */
  #closeReason: FilingsError | undefined;
  #defect: unknown;
  #notStarted = 0;
  #wake = () => {};

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#rule = new StopRule('file', options.hintCommand);
    this.#slots = new JobSlots(options.selection.jobs, () => this.#wake());
    this.selection = new Selection(options.input, { ...options.selection, wake: () => this.#wake() });
    options.recorder.onError = (error) => this.#stopBy(error);
  }

  /** Returns why and how the batch ended. Throws only defects. */
  async run(): Promise<BatchEnd> {
    const { signal, recorder } = this.#options;
    const unsubscribe = onAbort(signal, (reason) => this.#stopBy(reason));
    await this.#processAll().catch((error) => this.#stopBy(error));
    await Promise.all(this.#running);
    await recorder.finish(!this.#isStopped).catch((error) => this.#stopBy(error));
    unsubscribe();
    if (this.#defect !== undefined) throw this.#defect;
    const stoppedBy: FilingsError | undefined = this.#stop.signal.reason ?? this.#closeReason;
    return { stoppedBy, notStarted: stoppedBy ? await this.#countNotStarted() : 0 };
  }

  async #processAll(): Promise<void> {
    const { recorder, world } = this.#options;
    let sliceStart = world.monotonic();
    while (!this.#isStopped) {
      if (world.monotonic() - sliceStart > MAX_SLICE_MS) {
        await setImmediate();
        sliceStart = world.monotonic();
      }
      if (recorder.hasBacklog) await recorder.flush();
      const item = this.selection.next();
      if (item) await this.#process(item);
      else if (!this.selection.isEnded) await this.#waitForWake();
      else if (this.selection.error instanceof FilingsError) this.#close(this.selection.error);
      else if (this.selection.error) throw this.selection.error;
      else return;
    }
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted || this.#closeReason !== undefined;
  }

  /** Returns no promise if there is nothing to wait for, because a promise for each existing file costs time. */
  #process(item: Item): Promise<void> | undefined {
    if (item.kind !== 'file') return this.#record(item);
    const plan = makePlan(item, this.#options.files);
    return plan instanceof Promise ? plan.then((found) => this.#follow(item, found)) : this.#follow(item, plan);
  }

  #follow(file: FileItem, plan: FilePlan): Promise<void> | undefined {
    const { files } = this.#options;
    if (plan.kind === 'fail' || plan.kind === 'keep') return this.#record(file, outcomeOf(file, plan, files));
    if (plan.kind === 'settle') {
      // Waits here, so that the next files reuse the facts about the directory.
      return executePlan(file, files, this.#stop.signal).then((outcome) => this.#record(file, outcome));
    }
    return this.#shouldWait(plan) ? this.#startLater(file, plan) : this.#start(file, plan);
  }

  async #startLater(file: FileItem, plan: FilePlan): Promise<void> {
    while (!this.#isStopped && this.#shouldWait(plan)) await this.#waitForWake();
    this.#start(file, plan);
  }

  #shouldWait(plan: FilePlan): boolean {
    return this.#slots.isFull || (isFetch(plan) && this.#options.limits.decideStart() === 'wait');
  }

  #start(file: FileItem, plan: FilePlan): undefined {
    const { limits, files } = this.#options;
    if (!this.#isStopped && isFetch(plan) && limits.decideStart() === 'end') this.#close(limits.error);
    if (this.#isStopped) {
      this.#notStarted += 1;
      return;
    }
    if (isFetch(plan)) limits.isRepeated ||= plan.isRepeated;
    if (plan.kind !== 'planned') return this.#execute(file, plan);
    limits.countPlanned(file.size ?? 0);
    this.#record(file, outcomeOf(file, plan, files));
  }

  /** Runs a job for the file. */
  #execute(file: FileItem, plan: FilePlan): undefined {
    const { limits, files } = this.#options;
    const end = isFetch(plan) ? limits.start() : () => {};
    const slot = this.#slots.acquire();
    const release = (bytes: number) => {
      // The rule counts responses in their order. Files that are requested later may end before this one.
      this.#rule.check(undefined);
      return slot.release(bytes);
    };
    const running: Promise<void> = executePlan(file, files, this.#stop.signal, { ...slot, release })
      .then((outcome) => {
        end(outcome.attempts > 0 && outcome.error === undefined);
        this.#record(file, outcome);
      })
      .catch((error) => this.#stopBy(error))
      .then(() => {
        this.#running.delete(running);
        slot.end();
        // A limit may delay the next file although a slot is free.
        this.#wake();
      });
    this.#running.add(running);
  }

  #record(item: Item, outcome?: Outcome): undefined {
    const { recorder, signal } = this.#options;
    const error = outcome?.error ?? ('error' in item ? item.error : undefined);
    if (item.kind === 'unlisted' && error?.code === 'limit') this.#close(error);
    if (error && error === (this.#stop.signal.reason ?? this.#closeReason)) {
      // Unfinished if a signal or the deadline stopped it; not started if the error of another file did.
      if (outcome && signal.aborted) recorder.record(item, { ...outcome, result: 'unfinished' }, true);
      else this.#notStarted += 1;
      return;
    }
    const isRequested = item.kind === 'unlisted' || (outcome !== undefined && outcome.attempts > 0);
    // A file that was not requested says nothing about whether the service can be reached.
    const stopError = error && (isRequested || error.stopsRun) ? this.#rule.check(error) : undefined;
    recorder.record(item, outcome, stopError !== undefined && stopError === error);
    if (stopError) this.#stopBy(stopError);
  }

  /** Starts nothing more. Only the first reason counts. */
  #close(reason: FilingsError): void {
    this.#closeReason ??= reason;
    this.#wake();
  }

  /** Cancels the downloads in progress. Only the first reason counts. */
  #stopBy(error: unknown): void {
    if (!(error instanceof FilingsError)) this.#defect ??= error;
    this.#options.noteFailure(error);
    this.#stop.abort(error);
    this.#wake();
  }

  /** Do not await between checking and calling this, or a wake-up is lost. */
  #waitForWake(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Returns the number of files not started. Undefined if the input could not be read to its end in time. */
  async #countNotStarted(): Promise<number | undefined> {
    const enough = createAbortController();
    const timeout = this.#options.world.sleep(MAX_COUNTING_MS, enough.signal).catch(() => {});
    const remaining = await Promise.race([this.selection.cancel(enough.signal).catch(() => {}), timeout]);
    enough.abort();
    return typeof remaining === 'number' ? remaining + this.#notStarted : undefined;
  }
}
