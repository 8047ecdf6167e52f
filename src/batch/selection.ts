// Turns the lines of the input into items, in their order: lists filings, selects their files and checks each name.
import { FilingsError } from '../errors.ts';
import type { Entry, Line } from '../input/lines.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type ListedFile, listedSize } from '../service/listing.ts';
import { Ahead } from './ahead.ts';
import type { Item, NamedFile } from './item.ts';
import type { Layout } from './layout.ts';
import { NameCheck } from './name-check.ts';

export interface SelectionOptions {
  readonly lines: AsyncIterable<readonly Line[]>;
  /** Returns the files of a filing. Throws `FilingsError` if the listing fails. */
  readonly list: (accession: AccessionNumber, signal: AbortSignal) => Promise<readonly ListedFile[]>;
  readonly layout: Layout;
  /** Undefined if no option selects files. Then a line without a file name is a usage error. */
  readonly isSelected: ((name: string) => boolean) | undefined;
  /** Returns whether the done list has a filing. Called once for each filing, because it counts them. */
  readonly isAlreadyDone: (accession: AccessionNumber) => boolean;
  /** Number of listings that are requested ahead. */
  readonly jobs: number;
}

/** A file whose name is not checked yet, or an item. */
type Candidate = NamedFile | Item;

export class Selection {
  /** What is known about all files of a run. */
  readonly tally = {
    files: 0,
    /** Sum of the listed sizes, and the number of files without one. */
    bytes: 0,
    unsized: 0,
    /** Number of filings whose listings have not arrived. */
    pending: 0,
    /** Whether the input is read to its end. */
    isRead: false,
  };
  /** Reads the input. */
  readonly ahead: Ahead<Candidate>;
  readonly #options: SelectionOptions;
  readonly #signal: AbortSignal;
  readonly #names: NameCheck;
  readonly #seenFilings = new Set<AccessionNumber>();

  constructor(options: SelectionOptions, signal: AbortSignal) {
    const { lines, jobs, layout } = options;
    this.#options = options;
    this.#signal = signal;
    this.#names = new NameCheck(layout);
    this.ahead = new Ahead<Candidate>({
      lines: this.#counted(lines),
      jobs,
      needsListing: (line) => this.#needsListing(line),
      list: ({ accession }) => this.#list(accession),
    });
  }

  /** Yields the items of a listing or of some lines at a time. Throws what the input throws. */
  async *items(): AsyncGenerator<Iterable<Item>> {
    for await (const candidates of this.ahead.results()) yield this.#checked(candidates);
  }

  #needsListing(line: Line): line is Entry {
    return line.kind === 'entry' && line.file === undefined && this.#options.isSelected !== undefined;
  }

  /** Counts the lines, and leaves out those of filings that are done or were listed before. */
  async *#counted(input: AsyncIterable<readonly Line[]>): AsyncGenerator<readonly Line[]> {
    for await (const lines of input) {
      yield lines.filter((line) => {
        if (!this.#needsListing(line)) {
          this.#count(undefined, 1);
          return true;
        }
        const isSkipped = this.#seenFilings.has(line.accession) || this.#options.isAlreadyDone(line.accession);
        this.#seenFilings.add(line.accession);
        if (!isSkipped) this.tally.pending += 1;
        return !isSkipped;
      });
    }
    this.tally.isRead = true;
  }

  #count(size: number | undefined, sign: 1 | -1): void {
    this.tally.files += sign;
    if (size === undefined) this.tally.unsized += sign;
    else this.tally.bytes += sign * size;
  }

  async #list(accession: AccessionNumber): Promise<readonly Candidate[]> {
    const { list, isSelected } = this.#options;
    try {
      const listed = await list(accession, this.#signal);
      const selected = listed.filter(({ file_name }) => isSelected?.(file_name));
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

  /** Checks one name at a time, so that V8 collects each item while it is young. */
  *#checked(candidates: readonly (Candidate | Line)[]): Generator<Item> {
    for (const candidate of candidates) {
      const file = 'kind' in candidate && candidate.kind === 'entry' ? namedFile(candidate) : candidate;
      const item = 'kind' in file ? file : this.#names.check(file);
      if (item.kind === 'duplicate') this.#count(item.size, -1);
      yield item;
    }
  }
}

/** Returns the file that a line names, or an error if it names none. */
function namedFile({ accession, file: fileName, number }: Entry): NamedFile | Item {
  if (fileName !== undefined) return { accession, fileName, size: undefined, filing: undefined };
  const error = new FilingsError('usage', 'no files selected', {
    subject: { line: number, name: accession },
    hint: 'name files after it, or add --all or --include GLOB',
    stopsRun: true,
  });
  return { kind: 'bad', number, error };
}
