import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { FileItem, Item } from './item.ts';
import type { Limits } from './limits.ts';
import type { Recorder } from './recorder.ts';
import { type Extent, type Selected, Selection, type SelectionOptions } from './selection.ts';
import { StopRule } from './verdict.ts';
import { Workers } from './workers.ts';

/** So long works without a promise before signals and timers have their turn. */
const TURN_MS = 10;
/** So long a run that was stopped counts what is left of its input; after a signal nobody waits for that. */
const COUNTING_MS = 2000;
const COUNTING_AFTER_SIGNAL_MS = 200;

/**
 * What a look at a file's final name says: how it has ended, or what is to be done. A `quick-skip` is waited for: what is
 * learned of its directory then does for the next files.
 */
export type Look = Outcome | 'missing' | 'compare' | 'skip' | 'quick-skip';

export interface BatchOptions {
  readonly input: AsyncIterable<readonly Selected[]>;
  /** Whether reading the input to its end may take long: nothing waits for a pipe. */
  readonly isStream: boolean;
  readonly selection: Omit<SelectionOptions, 'wake'>;
  readonly recorder: Recorder;
  readonly limits: Limits;
  /** Looks at what has a file's final name, without a promise where that takes no time. */
  readonly look: (file: FileItem) => Look | Promise<Look>;
  /** Brings a file to its place; a failure is an outcome. `arrived`: only the disk has still to do. */
  readonly download: (file: FileItem, signal: AbortSignal, arrived: () => void) => Promise<Outcome>;
  /** Told of each thing as it has ended; of a file also whether the service was asked for it. */
  readonly onEnd: (item: Item, outcome: Outcome | undefined) => void;
  /** Words a command of this program so that it asks the same service. */
  readonly again: (command: string) => string;
  /** Aborted by a signal of the system or the deadline. */
  readonly signal: AbortSignal;
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number;
}

export interface BatchEnd {
  /** What stopped it before its end, if anything did. */
  readonly stoppedBy: FilingsError | undefined;
  /** How many files were not started, or called off; undefined when nobody knows: the input was not read to its end. */
  readonly notStarted: number | undefined;
}

/**
 * Works through a selection, some files at a time. Continues after a failed one, but not after what would fail all the
 * rest. Throws defects alone.
 */
export class Batch {
  readonly #options: BatchOptions;
  readonly #workers: Workers;
  readonly #stop = new AbortController();
  readonly #rule: StopRule;
  /** How far it is. */
  readonly selection: Selection;
  /** Why nothing more starts, while what is under way ends well. */
  #closedBy: FilingsError | undefined;
  #defect: unknown;
  #notStarted = 0;
  /** Handed out, and waiting for a job. */
  #next: FileItem | undefined;
  #isAwake = false;
  #resume = () => {};

  constructor(options: BatchOptions) {
    const { selection, recorder, again, input } = options;
    this.#options = options;
    this.#rule = new StopRule('file', again);
    this.#workers = new Workers(selection.jobs, (defect) => this.#wake(defect));
    this.selection = new Selection(input, { ...selection, wake: () => this.#wake() });
    recorder.onError = (error) => this.#stopBy(error);
    setMaxListeners(0, this.#stop.signal);
  }

  async run(): Promise<BatchEnd> {
    const { signal, recorder } = this.#options;
    const forget = onAbort(signal, (reason) => this.#stopBy(reason));
    try {
      await this.#work();
    } catch (error) {
      this.#stopBy(error);
    }
    await this.#workers.ended();
    await recorder.finish().catch((error) => this.#stopBy(error));
    forget();
    if (this.#defect !== undefined) throw this.#defect;
    const stoppedBy: FilingsError | undefined = this.#stop.signal.reason ?? this.#closedBy;
    return { stoppedBy, notStarted: stoppedBy ? await this.#leftOver() : 0 };
  }

  /** What the whole selection is; undefined while that is not known. */
  get extent(): Extent | undefined {
    const { extent } = this.selection;
    if (extent?.waiting === undefined || this.#next === undefined) return extent;
    const { size } = this.#next;
    return { ...extent, waiting: size === undefined ? undefined : extent.waiting + size };
  }

  async #work(): Promise<void> {
    const { monotonic, recorder } = this.#options;
    let turn = monotonic();
    while (!this.#isStopped) {
      const now = monotonic();
      if (now - turn > TURN_MS) {
        await setImmediate();
        turn = monotonic();
      }
      if (recorder.isBehind) await recorder.flush();
      const item = this.#selection();
      if (item === 'end') return;
      if (item === undefined) await this.#woken();
      else await this.#take(item);
    }
  }

  #selection(): Item | 'end' | undefined {
    const { selection } = this;
    const item = selection.next();
    if (item !== undefined) return item;
    if (!selection.isEnded) return undefined;
    if (selection.error instanceof FilingsError) this.#closedBy ??= selection.error;
    return 'end';
  }

  get #isStopped(): boolean {
    if (this.selection.error !== undefined && !(this.selection.error instanceof FilingsError))
      throw this.selection.error;
    return this.#stop.signal.aborted || this.#closedBy !== undefined;
  }

  /** Without a promise, unless it has to wait for a job. */
  #take(item: Item): Promise<void> | undefined {
    if (item.kind !== 'file') return void this.#ended(item);
    this.#options.recorder.taken(item);
    const look = this.#options.look(item);
    return look instanceof Promise ? this.#lookedLater(item, look) : this.#looked(item, look);
  }

  async #lookedLater(item: FileItem, looking: Promise<Look>): Promise<void> {
    const look = await looking;
    if (this.#isStopped) this.#notStarted += 1;
    else await this.#looked(item, look);
  }

  #looked(item: FileItem, look: Look): Promise<void> | undefined {
    if (typeof look === 'object') return void this.#ended(item, look);
    if (look === 'quick-skip') return this.#download(item, () => {});
    return this.#workers.idle > 0 ? void this.#start(item, look) : this.#startLater(item, look);
  }

  async #startLater(file: FileItem, look: Exclude<Look, Outcome>): Promise<void> {
    this.#next = file;
    while (this.#workers.idle === 0 && !this.#isStopped) await this.#woken();
    this.#next = undefined;
    if (this.#isStopped) this.#notStarted += 1;
    else this.#start(file, look);
  }

  #start(file: FileItem, look: Exclude<Look, Outcome>): void {
    const { limits } = this.#options;
    const limit = look === 'skip' ? undefined : limits.reached();
    if (limit) this.#close(limit);
    else {
      if (look === 'missing') limits.started();
      this.#workers.start((arrived) => this.#download(file, arrived));
    }
  }

  async #download(file: FileItem, arrived: () => void): Promise<void> {
    let hasArrived = false;
    const outcome = await this.#options.download(file, this.#stop.signal, () => {
      hasArrived = true;
      // The service has given it: what is "in a row" goes by its answers, whatever the disk has still to do.
      this.#rule.after(undefined);
      arrived();
    });
    const { error } = outcome;
    const isBrokenOff = this.#stop.signal.aborted && error === this.#stop.signal.reason;
    if (!isBrokenOff) return this.#ended(file, outcome, hasArrived);
    // By a signal or the deadline it is unfinished; an error of another file is not its own.
    if (this.#options.signal.aborted) this.#options.recorder.ended(file, { ...outcome, result: 'unfinished' });
    else this.#notStarted += 1;
  }

  #ended(item: Item, outcome?: Outcome, hasArrived = false): void {
    const error = outcome?.error ?? ('error' in item ? item.error : undefined);
    if (item.kind === 'unlisted' && error?.code === 'limit') {
      this.#close(error);
      return;
    }
    this.#options.recorder.ended(item, outcome);
    this.#options.onEnd(item, outcome);
    const wasAsked = item.kind === 'unlisted' || (outcome !== undefined && outcome.attempts > 0);
    // An ending says nothing of whether the service is there when it was not asked, or when its bytes were here already.
    const saysNothing = error ? !wasAsked && !error.stopsRun : !wasAsked || hasArrived;
    const stopping = saysNothing ? undefined : this.#rule.after(error);
    if (stopping) this.#stopBy(stopping);
  }

  /** Nothing more starts; one was about to. */
  #close(reason: FilingsError): void {
    this.#closedBy ??= reason;
    this.#notStarted += 1;
    this.#wake();
  }

  /** What is under way is called off, for what would fail all the rest; the first reason counts. */
  #stopBy(error: unknown): void {
    if (!(error instanceof FilingsError)) this.#defect ??= error;
    this.#stop.abort(error);
    this.#wake();
  }

  #wake(defect?: unknown): void {
    if (defect !== undefined) this.#stopBy(defect);
    this.#isAwake = true;
    this.#resume();
  }

  async #woken(): Promise<void> {
    if (!this.#isAwake) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
    this.#isAwake = false;
  }

  async #leftOver(): Promise<number | undefined> {
    const { signal, isStream } = this.#options;
    const left = this.#notStarted + this.selection.left;
    const ms = !signal.aborted ? COUNTING_MS : isStream ? 0 : COUNTING_AFTER_SIGNAL_MS;
    const patience = AbortSignal.timeout(ms);
    const unread = await orUndefined(this.selection.unread(patience), patience);
    await this.selection.cancel();
    return unread === undefined ? undefined : left + unread;
  }
}

async function orUndefined<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let forget = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    forget = onAbort(signal, () => resolve(undefined));
  });
  return Promise.race([promise.catch(() => undefined), aborted]).finally(forget);
}
