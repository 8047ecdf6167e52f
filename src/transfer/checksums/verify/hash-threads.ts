import { Worker } from 'node:worker_threads';
import { FilingsError } from '../../../errors.ts';
import type { ThreadCode } from '../../../own-files.ts';
import type { HashAnswer, HashMessage, HashOrder } from './hash-order.ts';

/** One that it works at, one that waits, so that a thread need not wait for us. */
const ORDERS_A_THREAD = 2;

/** What becomes of an order's answer; the thread takes no further order in its place before that is done. */
export type Taker = (answer: HashAnswer) => Promise<void>;

interface Job {
  readonly order: HashOrder;
  readonly take: Taker;
}

interface Thread {
  readonly worker: Worker;
  readonly jobs: Job[];
  /** Orders given whose answers were not yet dealt with. */
  load: number;
}

export interface ThreadOptions {
  /** The built `hash-thread`. */
  readonly thread: ThreadCode;
  readonly threads: number;
  readonly signal: AbortSignal;
  /** Bytes hashed, as they are. */
  readonly moved: (bytes: number) => void;
}

/** Threads that hash files, started as they are needed; so many orders at once that all of them are busy. */
export class HashThreads {
  readonly #options: ThreadOptions;
  readonly #threads: Thread[] = [];
  /** Those that are worth a thread each go first. */
  readonly #large: Job[] = [];
  readonly #waiting: Job[] = [];
  #wake: (() => void)[] = [];
  #failure: unknown;

  constructor(options: ThreadOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal.aborted) this.#onAbort();
  }

  /** Hands over files; resolves when there is room for more. Throws the signal's reason, what a taker threw. */
  async hash(order: HashOrder, take: Taker): Promise<void> {
    this.#waiting.push({ order, take });
    this.#dispatch();
    await this.#until(() => this.#waiting.length === 0);
  }

  /** Hands over a large file, from within a taker. */
  hashLarge(order: HashOrder, take: Taker): void {
    this.#large.push({ order, take });
  }

  /** Resolves when every answer was dealt with. Throws the signal's reason, what a taker threw. */
  async done(): Promise<void> {
    const idle = () => this.#threads.every(({ load }) => load === 0);
    await this.#until(() => idle() && this.#waiting.length === 0 && this.#large.length === 0);
  }

  /** Ends the threads, whatever they are at. */
  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#fail(new FilingsError('internal', 'the threads were ended'));
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  readonly #onAbort = () => this.#fail(this.#options.signal.reason);

  async #until(holds: () => boolean): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (holds()) return;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#changed();
  }

  #changed(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }

  #dispatch(): void {
    if (this.#failure !== undefined) return;
    for (;;) {
      const large = this.#large.length > 0;
      const job = large ? this.#large[0] : this.#waiting[0];
      const thread = job && this.#freeFor(large ? 1 : ORDERS_A_THREAD);
      if (job === undefined || thread === undefined) return;
      (large ? this.#large : this.#waiting).shift();
      thread.load += 1;
      thread.jobs.push(job);
      thread.worker.postMessage(job.order);
    }
  }

  /** The least busy thread with fewer than `most` orders; a new one before any gets a second. */
  #freeFor(most: number): Thread | undefined {
    let least: Thread | undefined;
    for (const thread of this.#threads) if (thread.load < (least?.load ?? most)) least = thread;
    if (least?.load === 0 || this.#threads.length >= this.#options.threads) return least;
    return this.#start();
  }

  #start(): Thread {
    const { code, eval: isText } = this.#options.thread;
    const worker = new Worker(code, { eval: isText, resourceLimits: { maxYoungGenerationSizeMb: 1 } });
    const thread: Thread = { worker, jobs: [], load: 0 };
    this.#threads.push(thread);
    worker.on('message', (message: HashMessage) => {
      if ('moved' in message) return this.#options.moved(message.moved);
      this.#options.moved(message.bytes);
      void this.#taken(thread, message);
    });
    worker.on('error', (cause) => this.#fail(new FilingsError('internal', 'a thread that hashes failed', { cause })));
    return thread;
  }

  async #taken(thread: Thread, answer: HashAnswer): Promise<void> {
    try {
      await thread.jobs.shift()?.take(answer);
    } catch (error) {
      this.#fail(error);
    }
    thread.load -= 1;
    this.#dispatch();
    this.#changed();
  }
}
