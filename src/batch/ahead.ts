// Reads an input ahead and requests the listings of its filings, a few at a time. The results come in the order of the
// input. A listing that has arrived is handed over without waiting for the next line, because stdin may be slow. What
// was handed over is forgotten, because an input may have millions of lines.
import { createAbortController, type Sleep } from '../abort.ts';
import type { Entry, Line } from '../input/lines.ts';

/** Lines that wait in memory. At about 100 bytes for each, these take 20 MB. */
const MAX_LINES_AHEAD = 200_000;
/** Lines that are handed over together. */
const MAX_LINES_PER_GROUP = 500;
/** Lines that were handed over leave the array when there are so many of them. */
const MIN_LINES_TO_DROP = 10_000;
/** How long a stopped run waits for further lines, in milliseconds, and how often. A pipe may never end. */
const MAX_WAIT_MS = 200;
const MAX_WAITS = 5;

export interface AheadOptions<T> {
  readonly lines: AsyncIterable<readonly Line[]>;
  /** Number of listings that are requested ahead. */
  readonly jobs: number;
  readonly needsListing: (line: Line) => line is Entry;
  readonly list: (line: Entry) => Promise<readonly T[]>;
}

/** The place of a listing, or of some lines that need none, in the order of the results. */
interface Slot<T> {
  results?: readonly (T | Line)[];
  failure?: { readonly error: unknown };
}

export class Ahead<T> {
  readonly #options: AheadOptions<T>;
  /** The lines from `#at` on wait. */
  readonly #lines: Line[] = [];
  #at = 0;
  readonly #slots: Slot<T>[] = [];
  #isReading = true;
  #failure: Slot<T>['failure'];
  #onChange = () => {};
  #onRoom = () => {};
  #onPause = () => {};

  constructor(options: AheadOptions<T>) {
    this.#options = options;
  }

  /** Yields the results of a listing, or some lines that need none. Throws what the input throws, in its place. */
  async *results(): AsyncGenerator<readonly (T | Line)[]> {
    void this.#read();
    for (;;) {
      this.#fillSlots();
      const [head] = this.#slots;
      const failure = head ? head.failure : this.#failure;
      if (failure) throw failure.error;
      if (head?.results) {
        this.#slots.shift();
        yield head.results;
      } else if (head || this.#isReading) {
        await new Promise<void>((resolve) => {
          this.#onChange = resolve;
        });
      } else return;
    }
  }

  /** Waits for the end of the input, as long as lines arrive, or until as much as possible has been read. */
  async waitForInput(sleep: Sleep): Promise<void> {
    let before = -1;
    for (let waits = 0; waits < MAX_WAITS && before < this.#lines.length; waits += 1) {
      if (!this.#isReading || this.#isFull) return;
      before = this.#lines.length;
      const paused = createAbortController();
      this.#onPause = () => paused.abort();
      await sleep(MAX_WAIT_MS, paused.signal).catch(() => {});
    }
  }

  get #isFull(): boolean {
    return this.#lines.length - this.#at >= MAX_LINES_AHEAD;
  }

  async #read(): Promise<void> {
    try {
      for await (const lines of this.#options.lines) {
        this.#lines.push(...lines);
        this.#onChange();
        while (this.#isFull) {
          this.#onPause();
          await new Promise<void>((resolve) => {
            this.#onRoom = resolve;
          });
        }
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#isReading = false;
    this.#onChange();
    this.#onPause();
  }

  #fillSlots(): void {
    const { jobs, needsListing, list } = this.#options;
    while (this.#slots.length < jobs && this.#at < this.#lines.length) {
      const first = this.#lines[this.#at] as Line;
      if (needsListing(first)) {
        this.#at += 1;
        this.#waitFor(list(first));
        continue;
      }
      const lines = this.#lines.slice(this.#at, this.#at + MAX_LINES_PER_GROUP);
      const next = lines.findIndex(needsListing);
      const results = next < 0 ? lines : lines.slice(0, next);
      this.#at += results.length;
      this.#slots.push({ results });
    }
    if (this.#at < MIN_LINES_TO_DROP && this.#at < this.#lines.length) return;
    this.#lines.splice(0, this.#at);
    this.#at = 0;
    if (!this.#isFull) this.#onRoom();
  }

  #waitFor(listing: Promise<readonly T[]>): void {
    const slot: Slot<T> = {};
    this.#slots.push(slot);
    const end = (ended: Slot<T>) => {
      Object.assign(slot, ended);
      this.#onChange();
    };
    listing.then(
      (results) => end({ results }),
      (error) => end({ failure: { error } }),
    );
  }
}
