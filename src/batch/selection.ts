// Turns the lines of the input into items, in the order of the input: lists filings, selects their files and checks
// every name.
import { FilingsError } from '../errors.ts';
import type { Entry, Line } from '../input/lines.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type ListedFile, listedSize } from '../service/listing.ts';
import type { Item, NamedFile } from './item.ts';
import type { Layout } from './layout.ts';
import { NameCheck } from './name-check.ts';
import { ReadAhead } from './read-ahead.ts';

export interface SelectionOptions {
  readonly lines: AsyncIterable<readonly Line[]>;
  /** Requests the listing of a filing. Throws `FilingsError` if that fails. */
  readonly list: (accession: AccessionNumber, signal: AbortSignal) => Promise<readonly ListedFile[]>;
  readonly layout: Layout;
  /** Undefined if no option selects files. Then a line without a file name is an error. */
  readonly nameFilter: ((name: string) => boolean) | undefined;
  /** Returns whether the done list has a filing, and if so counts it. So it is called only once for each filing. */
  readonly countIfDone: (accession: AccessionNumber) => boolean;
  /** How many listings are requested at the same time. */
  readonly jobs: number;
}

/** An item, or a file whose name is not checked yet. */
type Candidate = NamedFile | Item;

export class Selection {
  /** What is known so far about all files of the run. It may be ahead of the items. */
  readonly tally = {
    files: 0,
    /** Sum of the listed sizes. */
    bytes: 0,
    /** Number of files without a listed size. */
    unsized: 0,
    /** Number of filings whose listings have not arrived. */
    pending: 0,
    hasInputEnded: false,
  };
  readonly readAhead: ReadAhead<Candidate>;
  readonly #options: SelectionOptions;
  readonly #signal: AbortSignal;
  readonly #nameCheck: NameCheck;
  readonly #seenFilings = new Set<AccessionNumber>();

  constructor(options: SelectionOptions, signal: AbortSignal) {
    const { lines, jobs, layout } = options;
    this.#options = options;
    this.#signal = signal;
    this.#nameCheck = new NameCheck(layout);
    this.readAhead = new ReadAhead<Candidate>({
      lines: this.#countLines(lines),
      jobs,
      needsListing: (line) => this.#needsListing(line),
      list: ({ accession }) => this.#list(accession),
    });
  }

  /** Yields the items of one listing, or of some lines, at a time. Throws the errors of the input. */
  async *items(): AsyncGenerator<Iterable<Item>> {
    for await (const candidates of this.readAhead.results()) yield this.#checkNames(candidates);
  }

  #needsListing(line: Line): line is Entry {
    return line.kind === 'entry' && line.file === undefined && this.#options.nameFilter !== undefined;
  }

  /**
   * Counts the lines for the tally. Of the lines that need a listing, drops those whose filing is done or was named
   * before.
   */
  async *#countLines(input: AsyncIterable<readonly Line[]>): AsyncGenerator<readonly Line[]> {
    for await (const lines of input) {
      yield lines.filter((line) => {
        // A line without a listing is one file, or one error, which counts as a failed file.
        if (!this.#needsListing(line)) {
          this.#count(undefined, 1);
          return true;
        }
        const isDropped = this.#seenFilings.has(line.accession) || this.#options.countIfDone(line.accession);
        this.#seenFilings.add(line.accession);
        if (!isDropped) this.tally.pending += 1;
        return !isDropped;
      });
    }
    this.tally.hasInputEnded = true;
  }

  #count(size: number | undefined, change: 1 | -1): void {
    this.tally.files += change;
    if (size === undefined) this.tally.unsized += change;
    else this.tally.bytes += change * size;
  }

  async #list(accession: AccessionNumber): Promise<readonly Candidate[]> {
    const { list, nameFilter } = this.#options;
    try {
      const listed = await list(accession, this.#signal);
      const selected = listed.filter(({ file_name }) => nameFilter?.(file_name));
      if (selected.length === 0) return [{ kind: 'unmatched', accession, files: listed.length }];
      const filing = { accession, files: selected.length, missing: selected.length };
      return selected.map((file) => {
        const size = listedSize(file);
        this.#count(size, 1);
        return { accession, fileName: file.file_name, size, filing };
      });
    } catch (error) {
      if (!(error instanceof FilingsError)) throw error;
      this.#count(undefined, 1);
      return [{ kind: 'unlisted', accession, error }];
    } finally {
      this.tally.pending -= 1;
    }
  }

  /** A generator, because V8 frees items sooner if they are made one at a time. */
  *#checkNames(candidates: readonly (Candidate | Line)[]): Generator<Item> {
    for (const candidate of candidates) {
      const file = 'kind' in candidate && candidate.kind === 'entry' ? toCandidate(candidate) : candidate;
      const item = 'kind' in file ? file : this.#nameCheck.check(file);
      if (item.kind === 'duplicate') this.#count(item.size, -1);
      yield item;
    }
  }
}

/** Returns the file that a line names, or an `invalid` item if the line has only an accession number. */
function toCandidate({ accession, file: fileName, number }: Entry): Candidate {
  if (fileName !== undefined) return { accession, fileName, size: undefined, filing: undefined };
  const error = new FilingsError('usage', 'no files selected', {
    subject: { line: number, name: accession },
    hint: 'write a file name after the accession number, or add --all or --include GLOB',
    stopsRun: true,
  });
  return { kind: 'invalid', number, error };
}
