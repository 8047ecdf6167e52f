import { setImmediate } from 'node:timers/promises';
import { createAbortController, MAX_SLICE_MS, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { type FilePlan, isFetch } from '../transfer/file-plan.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import type { Files } from './files.ts';
import type { Line } from './input.ts';
import type { FileItem, Item } from './item.ts';
import { JobSlots } from './job-slots.ts';
import type { Limits } from './limits.ts';
import type { Recorder } from './recorder.ts';
import { Selection, type SelectionOptions } from './selection.ts';
import { type BatchEnd, StopRule } from './verdict.ts';

/** How long a stopped run counts what is left of its input. */
export const MAX_COUNTING_MS = 500;

export interface BatchOptions {
  readonly input: AsyncIterable<readonly Line[]>;
  readonly selection: Omit<SelectionOptions, 'wake'>;
  readonly files: Files;
  readonly recorder: Recorder;
  readonly limits: Limits;
  /** Words a command so that it asks the same service. */
  readonly again: (command: string) => string;
  /** Hears of each error that stops the run, or would stop it if it had not been stopped before. */
  readonly noteFailure: (error: unknown) => void;
  /** Of the system's signals and the deadline. */
  readonly signal: AbortSignal;
  readonly world: Pick<World, 'monotonic' | 'sleep'>;
}

/** Continues after a failed file, but not after what would fail all the rest. Throws defects alone. */
export class Batch {
  readonly #options: BatchOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #slots: JobSlots;
  readonly #stop = createAbortController();
  readonly #rule: StopRule;
  readonly selection: Selection;
  /** Why nothing more starts, while what is under way ends well. */
  #closedBy: FilingsError | undefined;
  #defect: unknown;
  #notStarted = 0;
  #wake = () => {};

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#rule = new StopRule('file', options.again);
    this.#slots = new JobSlots(options.selection.jobs, () => this.#wake());
    this.selection = new Selection(options.input, { ...options.selection, wake: () => this.#wake() });
    options.recorder.onError = (error) => this.#stopBy(error);
  }

  async run(): Promise<BatchEnd> {
    const { signal, recorder } = this.#options;
    const forget = onAbort(signal, (reason) => this.#stopBy(reason));
    await this.#work().catch((error) => this.#stopBy(error));
    await Promise.all(this.#running);
    await recorder.finish(!this.#isStopped).catch((error) => this.#stopBy(error));
    forget();
    if (this.#defect !== undefined) throw this.#defect;
    const stoppedBy: FilingsError | undefined = this.#stop.signal.reason ?? this.#closedBy;
    return { stoppedBy, notStarted: stoppedBy ? await this.#leftOver() : 0 };
  }

  async #work(): Promise<void> {
    const { recorder, world } = this.#options;
    let turn = world.monotonic();
    while (!this.#isStopped) {
      if (world.monotonic() - turn > MAX_SLICE_MS) {
        await setImmediate();
        turn = world.monotonic();
      }
      if (recorder.isBehind) await recorder.flush();
      const item = this.selection.next();
      if (item) await this.#take(item);
      else if (!this.selection.isEnded) await this.#woken();
      else if (this.selection.error instanceof FilingsError) this.#close(this.selection.error);
      else if (this.selection.error) throw this.selection.error;
      else return;
    }
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted || this.#closedBy !== undefined;
  }

  #take(item: Item): Promise<void> | undefined {
    if (item.kind !== 'file') return this.#ended(item);
    const plan = this.#options.files.plan(item);
    return plan instanceof Promise ? plan.then((known) => this.#follow(item, known)) : this.#follow(item, plan);
  }

  #follow(file: FileItem, plan: FilePlan): Promise<void> | undefined {
    const { files } = this.#options;
    if (plan.kind === 'fail' || plan.kind === 'keep') return this.#ended(file, files.outcomeOf(file, plan));
    if (plan.kind === 'settle') {
      // Waits here, so that the next files reuse what is known of the directory.
      return files.carryOut(file, this.#stop.signal).then((outcome) => this.#ended(file, outcome));
    }
    return this.#mustWait(plan) ? this.#startLater(file, plan) : this.#start(file, plan);
  }

  async #startLater(file: FileItem, plan: FilePlan): Promise<void> {
    while (!this.#isStopped && this.#mustWait(plan)) await this.#woken();
    this.#start(file, plan);
  }

  #mustWait(plan: FilePlan): boolean {
    return this.#slots.areTaken || (isFetch(plan) && this.#options.limits.mayStart() === 'wait');
  }

  #start(file: FileItem, plan: FilePlan): undefined {
    const { limits, files } = this.#options;
    if (!this.#isStopped && isFetch(plan) && limits.mayStart() === 'end') this.#close(limits.error);
    if (this.#isStopped) {
      this.#notStarted += 1;
      return;
    }
    if (isFetch(plan)) limits.isRepeated ||= plan.isRepeated;
    if (plan.kind === 'planned') {
      limits.plan(file.size ?? 0);
      return this.#ended(file, files.outcomeOf(file, plan));
    }
    const end = isFetch(plan) ? limits.start() : () => {};
    const slot = this.#slots.take();
    const release = (bytes: number) => {
      // The rule counts responses in their order. Files that are requested later may end before this one.
      this.#rule.after(undefined);
      return slot.release(bytes);
    };
    const running: Promise<void> = files
      .carryOut(file, this.#stop.signal, { ...slot, release })
      .then((outcome) => {
        end(outcome.attempts > 0 && outcome.error === undefined);
        this.#ended(file, outcome);
      })
      .catch((error) => this.#stopBy(error))
      .then(() => {
        this.#running.delete(running);
        slot.end();
        // A limit may hold back the next file although a slot is free.
        this.#wake();
      });
    this.#running.add(running);
  }

  #ended(item: Item, outcome?: Outcome): undefined {
    const { recorder, signal } = this.#options;
    const error = outcome?.error ?? ('error' in item ? item.error : undefined);
    if (item.kind === 'unlisted' && error?.code === 'limit') this.#close(error);
    if (error && error === (this.#stop.signal.reason ?? this.#closedBy)) {
      // By a signal or the deadline it is unfinished; an error of another file is not its own.
      if (outcome && signal.aborted) recorder.ended(item, { ...outcome, result: 'unfinished' }, true);
      else this.#notStarted += 1;
      return;
    }
    const wasAsked = item.kind === 'unlisted' || (outcome !== undefined && outcome.attempts > 0);
    // A file that was not asked for says nothing of whether the service is there.
    const stopping = error && (wasAsked || error.stopsRun) ? this.#rule.after(error) : undefined;
    recorder.ended(item, outcome, stopping !== undefined && stopping === error);
    if (stopping) this.#stopBy(stopping);
  }

  #close(reason: FilingsError): void {
    this.#closedBy ??= reason;
    this.#wake();
  }

  /** What is under way is called off; the first reason counts. */
  #stopBy(error: unknown): void {
    if (!(error instanceof FilingsError)) this.#defect ??= error;
    this.#options.noteFailure(error);
    this.#stop.abort(error);
    this.#wake();
  }

  /** Nothing is awaited between the look and this, so that no wake is missed. */
  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #leftOver(): Promise<number | undefined> {
    const enough = createAbortController();
    const late = this.#options.world.sleep(MAX_COUNTING_MS, enough.signal).catch(() => {});
    const left = await Promise.race([this.selection.cancel(enough.signal).catch(() => {}), late]);
    enough.abort();
    return typeof left === 'number' ? left + this.#notStarted : undefined;
  }
}
