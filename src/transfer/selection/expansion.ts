import { setMaxListeners } from 'node:events';
import { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import type { ListedFile } from '../../service/listing/listing.ts';
import type { Expanded } from './expanded.ts';
import { ExpansionQueue, type QueueOptions, type Selected } from './expansion-queue.ts';
import type { ListingSlot } from './listing-slot.ts';

/** So many listings are under way while every job is busy. */
const AHEAD = 2;
/** So many times the jobs, lines or files wait at most before more of the input is read. */
const WAITING = 2;

export interface ExpansionOptions extends QueueOptions {
  readonly list: (accession: AccessionNumber, signal: AbortSignal) => Promise<readonly ListedFile[]>;
  /** How many are to be busy with what comes out, each of which waits in `next()` when it is idle. */
  readonly jobs: number;
  readonly signal: AbortSignal;
  /** Told of each thing as it is handed out, in that order, before who takes it. */
  readonly onTaken?: (item: Expanded) => void;
}

/** A selection of which all is known. */
export interface Extent {
  readonly files: number;
  /** Bytes of those that were not handed out; undefined where nobody has told the size of one. */
  readonly waiting: number | undefined;
}

/** What ends as a file, well or not. */
const FILES: ReadonlySet<Expanded['kind']> = new Set(['file', 'refused', 'unlisted', 'bad']);

type Result = IteratorResult<Expanded, undefined>;

interface Idle {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface End {
  /** What `next()` throws from then on; nothing at an end that is none of an error. */
  readonly error?: unknown;
}

/**
 * From what is named to the files of the run, in the order of the input as far as nobody has to wait
 * for it. Listings are asked for ahead, but not while files enough for every job are waiting. `next()` may be called by many at once. It throws the signal's
 * reason and, behind all that came before it, what `lines` throws.
 */
export class Expansion implements AsyncIterableIterator<Expanded, undefined> {
  readonly #lines: AsyncIterator<Selected>;
  readonly #options: ExpansionOptions;
  readonly #queue: ExpansionQueue;
  readonly #idle: Idle[] = [];
  readonly #asking = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #onAbort = () => this.#finish({ error: this.#options.signal.reason });
  #answered = 0;
  #reading = false;
  /** How it ends once the queue is empty. */
  #end: End | undefined;
  #finished = false;
  #left = 0;
  /** How many were handed out. */
  #files = 0;

  constructor(lines: AsyncIterable<Selected>, options: ExpansionOptions) {
    this.#lines = lines[Symbol.asyncIterator]();
    this.#options = options;
    this.#queue = new ExpansionQueue(options);
    setMaxListeners(0, this.#stop.signal);
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal.aborted) this.#onAbort();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#idle.push({ resolve, reject });
      this.#advance();
    });
  }

  /** Ends it, and whoever waits; resolves when the listings under way have been called off. May be called again. */
  async return(): Promise<Result> {
    this.#finish({});
    await Promise.allSettled(this.#asking);
    return { value: undefined, done: true };
  }

  /** How many of those that were read were not handed out, also at the end; a filing without its listing counts as one. */
  left(): number {
    return this.#finished ? this.#left : this.#queue.left;
  }

  /** What the whole selection is; undefined while lines or listings are missing. */
  get extent(): Extent | undefined {
    if (this.#finished || !this.#end || this.#queue.isListing) return undefined;
    return { files: this.#files + this.#queue.waiting, waiting: this.#queue.bytes };
  }

  /** Whatever is still to come is not wanted any more. */
  #finish(end: End): void {
    this.#left = this.left();
    this.#finished = true;
    this.#queue.clear();
    this.#end = end;
    this.#stop.abort(end.error);
    // Not waited for: a reading that is under way may never end, and the input is its opener's to close.
    this.#lines.return?.().catch(() => {});
    this.#advance();
  }

  /** Hands out, asks and reads as far as it goes now. */
  #advance(): void {
    while (this.#idle.length > 0) {
      const item = this.#queue.take();
      if (item === undefined) break;
      if (FILES.has(item.kind)) this.#files += 1;
      this.#options.onTaken?.(item);
      this.#idle.shift()?.resolve({ value: item, done: false });
    }
    if (this.#end && this.#queue.length === 0) this.#dismiss(this.#end);
    this.#ask();
    this.#read();
  }

  #dismiss(end: End): void {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    for (const { resolve, reject } of this.#idle.splice(0)) {
      if ('error' in end) reject(end.error);
      else resolve({ value: undefined, done: true });
    }
  }

  /** Asks for the next listings, as many as there is need for; at first carefully, one more for each that came. */
  #ask(): void {
    const { jobs } = this.#options;
    if (this.#queue.waiting >= jobs) return;
    const most = Math.min(jobs, 1 + this.#answered, Math.max(AHEAD, this.#idle.length));
    for (const slot of this.#queue.held(most - this.#asking.size)) {
      const asking = this.#list(slot).finally(() => {
        this.#asking.delete(asking);
        this.#answered += 1;
        this.#advance();
      });
      this.#asking.add(asking);
    }
  }

  async #list(slot: ListingSlot): Promise<void> {
    const { list, chosen = () => true } = this.#options;
    slot.asked();
    try {
      await slot.take(await list(slot.accession, this.#stop.signal), chosen);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (error instanceof FilingsError) slot.fail(error);
      else this.#finish({ error });
    }
  }

  #read(): void {
    const most = WAITING * this.#options.jobs;
    if (this.#reading || this.#end || this.#queue.length >= most || this.#queue.waiting >= most) return;
    this.#reading = true;
    this.#lines.next().then(
      ({ value, done }) => this.#onRead(done ? undefined : value, {}),
      (error) => this.#onRead(undefined, { error }),
    );
  }

  #onRead(selected: Selected | undefined, end: End): void {
    this.#reading = false;
    if (!this.#end && selected) this.#queue.put(selected);
    if (!selected) this.#end ??= end;
    this.#advance();
  }
}
