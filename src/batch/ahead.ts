// Reads an input ahead, so that its size is known early, and requests the listings of its filings, a few at a time. The
// results come in the order of the input. A listing that has arrived is handed over without waiting for the next line,
// because stdin may be slow. What was handed over is forgotten, because an input may have millions of lines.
import { createAbortController, type Sleep } from '../abort.ts';
import type { Entry, Line } from '../input/lines.ts';

/** Lines that wait in memory. At about 100 bytes for each, these take 10 MB. */
const MAX_LINES_AHEAD = 100_000;
/** How long a stopped run waits for the end of its input, in milliseconds. A pipe may never end. */
const MAX_WAIT_MS = 200;

interface AheadOptions<T> {
  readonly lines: AsyncIterable<readonly Line[]>;
  /** Number of listings that are requested ahead. */
  readonly jobs: number;
  readonly needsListing: (line: Line) => line is Entry;
  readonly list: (line: Entry) => Promise<readonly T[]>;
}

/** Lines that need no listing, or one that does, with its results once they are requested. */
type Slot<T> = Line[] | { readonly line: Entry; results?: Promise<readonly T[]> };

export class Ahead<T> {
  readonly #options: AheadOptions<T>;
  /** A set, because the removal of the first element of a long array moves all others. */
  readonly #slots = new Set<Slot<T>>();
  #last: Slot<T> | undefined;
  #linesAhead = 0;
  #reading: Promise<void> | undefined;
  #onLines = () => {};
  #onRoom = () => {};

  constructor(options: AheadOptions<T>) {
    this.#options = options;
  }

  /** Yields the results of a listing, or some lines that need none. Throws what the input throws, in its place. */
  async *results(): AsyncGenerator<readonly (T | Line)[]> {
    let isRead = false;
    this.#reading = this.#read().finally(() => {
      isRead = true;
      this.#onLines();
    });
    this.#reading.catch(() => {});
    for (;;) {
      const [slot] = this.#slots;
      if (slot) {
        const results = Array.isArray(slot) ? slot : await slot.results;
        this.#slots.delete(slot);
        if (slot === this.#last) this.#last = undefined;
        this.#linesAhead -= Array.isArray(slot) ? slot.length : 1;
        this.#requestListings();
        this.#onRoom();
        yield results ?? [];
      } else if (isRead) {
        return this.#reading;
      } else {
        await new Promise<void>((resolve) => {
          this.#onLines = resolve;
        });
      }
    }
  }

  /** Waits a moment for the end of the input, which a small one reaches. */
  async waitForInput(sleep: Sleep): Promise<void> {
    const ended = createAbortController();
    this.#reading?.catch(() => {}).then(() => ended.abort());
    await sleep(MAX_WAIT_MS, ended.signal).catch(() => {});
  }

  async #read(): Promise<void> {
    for await (const lines of this.#options.lines) {
      this.#add(lines);
      while (this.#linesAhead >= MAX_LINES_AHEAD) {
        await new Promise<void>((resolve) => {
          this.#onRoom = resolve;
        });
      }
    }
  }

  #add(lines: readonly Line[]): void {
    for (const line of lines) {
      if (!this.#options.needsListing(line) && Array.isArray(this.#last)) {
        this.#last.push(line);
        continue;
      }
      this.#last = this.#options.needsListing(line) ? { line } : [line];
      this.#slots.add(this.#last);
    }
    this.#linesAhead += lines.length;
    this.#requestListings();
    this.#onLines();
  }

  #requestListings(): void {
    let requested = 0;
    for (const slot of this.#slots) {
      if (requested === this.#options.jobs) return;
      if (Array.isArray(slot)) continue;
      requested += 1;
      if (slot.results) continue;
      slot.results = this.#options.list(slot.line);
      // It is awaited in its turn.
      slot.results.catch(() => {});
    }
  }
}
