// Reads the input ahead of the downloads, so that the caller, who counts the lines as they are read, knows early how
// many there are. Also requests the listings of the next filings, several at once.
//
// Listings may arrive in any order, but results are yielded in the order of the input, each as soon as it can be, even
// if the next line has not been read: stdin may be slow. Nothing is kept after that: there may be millions of lines.
import { type Sleep, waitAtMost } from '../abort.ts';
import type { Line } from '../input/lines.ts';
import type { AccessionNumber } from '../service/accession.ts';

/** At about 100 bytes each, they take 10 MB. */
const MAX_LINES_AHEAD = 100_000;
/** The longest time, in milliseconds, that a stopped run waits for the end of its input. A pipe may never end. */
const MAX_END_WAIT_MS = 200;

interface ReadAheadOptions<T> {
  readonly lines: AsyncIterable<readonly Line[]>;
  readonly jobs: number;
  /** The filing whose listing takes the place of a line, if there is one. */
  readonly accessionToList: (line: Line) => AccessionNumber | undefined;
  /** Returns what to yield for a filing. A failed listing is a result, too, so a rejection means a bug. */
  readonly list: (accession: AccessionNumber) => Promise<readonly T[]>;
}

interface ListingSlot<T> {
  readonly accession: AccessionNumber;
  results?: Promise<readonly T[]>;
}

/** Consecutive lines that need no listing, or a listing. */
type Slot<T> = Line[] | ListingSlot<T>;

export class ReadAhead<T> {
  readonly #options: ReadAheadOptions<T>;
  /** The queue. It is a set, because removing the first element of a long array moves all others. */
  readonly #slots = new Set<Slot<T>>();
  #lastSlot: Slot<T> | undefined;
  #linesAhead = 0;
  #reading: Promise<void> | undefined;
  #wakeConsumer = () => {};
  #wakeReader = () => {};

  constructor(options: ReadAheadOptions<T>) {
    this.#options = options;
  }

  /** Yields the results of one listing at a time, or consecutive lines that need none. */
  async *results(): AsyncGenerator<readonly (T | Line)[]> {
    let hasEnded = false;
    this.#reading = this.#read().finally(() => {
      hasEnded = true;
      this.#wakeConsumer();
    });
    // `return this.#reading` below throws the error. Without this handler, Node would end the program before that.
    this.#reading.catch(() => {});
    for (;;) {
      const [slot] = this.#slots;
      if (slot) {
        const results = Array.isArray(slot) ? slot : await this.#request(slot);
        this.#slots.delete(slot);
        if (slot === this.#lastSlot) this.#lastSlot = undefined;
        this.#linesAhead -= Array.isArray(slot) ? slot.length : 1;
        this.#requestListings();
        this.#wakeReader();
        yield results;
      } else if (hasEnded) {
        return this.#reading;
      } else {
        await new Promise<void>((resolve) => {
          this.#wakeConsumer = resolve;
        });
      }
    }
  }

  /** Waits a moment for the end of the input, so that a stopped run knows how many files were left. */
  async waitForEnd(sleep: Sleep): Promise<void> {
    await waitAtMost(
      MAX_END_WAIT_MS,
      sleep,
      this.#reading?.catch(() => {}),
    );
  }

  async #read(): Promise<void> {
    for await (const lines of this.#options.lines) {
      this.#add(lines);
      while (this.#linesAhead >= MAX_LINES_AHEAD) {
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve;
        });
      }
    }
  }

  #add(lines: readonly Line[]): void {
    for (const line of lines) {
      const accession = this.#options.accessionToList(line);
      if (accession === undefined && Array.isArray(this.#lastSlot)) {
        this.#lastSlot.push(line);
        continue;
      }
      this.#lastSlot = accession === undefined ? [line] : { accession };
      this.#slots.add(this.#lastSlot);
    }
    this.#linesAhead += lines.length;
    this.#requestListings();
    this.#wakeConsumer();
  }

  /**
   * Requests the listings of the first `jobs` filings in the queue. One that has arrived is among them until it is
   * yielded, so that at most `jobs` listings are in memory.
   */
  #requestListings(): void {
    let requested = 0;
    for (const slot of this.#slots) {
      if (requested === this.#options.jobs) return;
      if (Array.isArray(slot)) continue;
      requested += 1;
      // As above: `results()` throws the error when this slot is the first.
      this.#request(slot).catch(() => {});
    }
  }

  #request(listing: ListingSlot<T>): Promise<readonly T[]> {
    listing.results ??= this.#options.list(listing.accession);
    return listing.results;
  }
}
