// Turns the lines of the input into items, in the order of the input. For a line that names a whole filing, files are
// selected from its listing. Every name is checked. Arguments of the command are passed as lines, too.
import type { Sleep } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import type { Entry, Line } from '../input/lines.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type ListedFile, listedSize } from '../service/listing.ts';
import type { Counts } from './counts.ts';
import type { Item, NamedFile } from './item.ts';
import { ReadAhead } from './read-ahead.ts';

export interface SelectionOptions {
  readonly lines: AsyncIterable<readonly Line[]>;
  readonly list: (accession: AccessionNumber) => Promise<readonly ListedFile[]>;
  readonly checkName: (file: NamedFile) => Item;
  /** Undefined if no option selects files. Then a line without a file name is an error. */
  readonly nameFilter: ((name: string) => boolean) | undefined;
  readonly isDone: (accession: AccessionNumber) => boolean;
  /** Lines are counted when they are read, before their items are yielded. */
  readonly counts: Counts;
  readonly jobs: number;
  readonly signal: AbortSignal;
}

/** An item, or a file whose name is not checked yet. */
type Candidate = NamedFile | Item;

export class Selection {
  /** Reads later lines, and requests their listings, while earlier files are being downloaded. */
  readonly #readAhead: ReadAhead<Candidate>;
  readonly #options: SelectionOptions;
  readonly #seenFilings = new Set<AccessionNumber>();

  constructor(options: SelectionOptions) {
    const { lines, jobs } = options;
    this.#options = options;
    this.#readAhead = new ReadAhead<Candidate>({
      lines: this.#countAndFilterLines(lines),
      jobs,
      accessionToList: (line) => this.#accessionToList(line),
      list: (accession) => this.#list(accession),
    });
  }

  async *items(): AsyncGenerator<Iterable<Item>> {
    for await (const candidates of this.#readAhead.results()) yield this.#toItems(candidates);
  }

  waitForEnd(sleep: Sleep): Promise<void> {
    return this.#readAhead.waitForEnd(sleep);
  }

  #accessionToList(line: Line): AccessionNumber | undefined {
    const isFiling = line.kind === 'entry' && line.fileName === undefined && this.#options.nameFilter !== undefined;
    return isFiling ? line.accession : undefined;
  }

  /** Drops lines whose filing is done, or came before, because its files would all be duplicates. */
  async *#countAndFilterLines(input: AsyncIterable<readonly Line[]>): AsyncGenerator<readonly Line[]> {
    const { counts, isDone } = this.#options;
    for await (const lines of input) {
      yield lines.filter((line) => {
        const accession = this.#accessionToList(line);
        // A line that needs no listing is one file, or one error, which is treated as a failed file.
        if (accession === undefined) {
          counts.addFile(undefined);
          return true;
        }
        if (this.#seenFilings.has(accession)) return false;
        this.#seenFilings.add(accession);
        if (isDone(accession)) {
          counts.doneFilings += 1;
          return false;
        }
        counts.pendingListings += 1;
        counts.filings += 1;
        return true;
      });
    }
    counts.hasInputEnded = true;
  }

  async #list(accession: AccessionNumber): Promise<readonly Candidate[]> {
    const { list, nameFilter, counts, signal } = this.#options;
    try {
      const listed = await list(accession);
      counts.pendingListings -= 1;
      const selected = listed.filter(({ file_name }) => nameFilter?.(file_name));
      if (selected.length === 0) return [{ kind: 'unmatched', accession, listedCount: listed.length }];
      const count = selected.length;
      const filing = { accession, selectedCount: count, unsavedFiles: count, unendedFiles: count };
      return selected.map((file) => {
        const size = listedSize(file);
        counts.addFile(size);
        return { accession, fileName: file.file_name, size, filing };
      });
    } catch (error) {
      if (!(error instanceof FilingsError)) throw error;
      const isCancelled = signal.aborted || error.code === 'limit';
      return [{ kind: isCancelled ? 'cancelled' : 'unlisted', accession, error }];
    }
  }

  /** A generator, because V8 frees items sooner if they are made one at a time. */
  *#toItems(candidates: readonly (Candidate | Line)[]): Generator<Item> {
    for (const candidate of candidates) {
      const fileOrItem = 'kind' in candidate && candidate.kind === 'entry' ? toCandidate(candidate) : candidate;
      // Only a `NamedFile` has no `kind`. Whatever has one (`unmatched`, `unlisted` or `invalid`) is an item already.
      const item = 'kind' in fileOrItem ? fileOrItem : this.#options.checkName(fileOrItem);
      this.#count(item);
      yield item;
    }
  }

  #count(item: Item): void {
    const { counts } = this.#options;
    // It was counted as a file when its line was read or its listing arrived.
    if (item.kind === 'duplicate') counts.addFile(item.size, -1);
    // Only now, because a run that stops before this item has not started the filing.
    if (item.kind !== 'unlisted') return;
    counts.pendingListings -= 1;
    counts.addFile(undefined);
  }
}

/**
 * A line with only an accession number gets here only if no option selects files. Unlike the error of an unreadable
 * line, this one stops the run: probably `--all` or `--include` is missing, for all lines.
 */
function toCandidate({ accession, fileName, number }: Entry): Candidate {
  if (fileName !== undefined) return { accession, fileName, size: undefined, filing: undefined };
  const error = new FilingsError('usage', 'no files selected', {
    subject: { line: number, name: accession },
    hint: 'write a file name after the accession number, or add --all or --include GLOB',
    stopsRun: true,
  });
  return { kind: 'invalid', number, error };
}
