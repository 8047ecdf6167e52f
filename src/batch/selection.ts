// Turns the lines of the input into items: it requests listings, selects their files and checks each name. Items come
// in the order of the input, except that files never wait for another filing's listing.
import { createAbortController, yieldToEventLoop } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import type { Entry, Line } from '../input/lines.ts';
import { LargeMap } from '../large-map.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type ListedFile, listedSize } from '../service/listing.ts';
import type { Item, NamedFile } from './item.ts';
import type { Layout } from './layout.ts';
import type { Start } from './limits.ts';
import { NameCheck } from './name-check.ts';

export interface SelectionOptions {
  /** Returns the files of a filing. Throws `FilingsError` if the listing fails. */
  readonly list: (accession: AccessionNumber, signal: AbortSignal) => Promise<readonly ListedFile[]>;
  readonly layout: Layout;
  /** Undefined if no option selects files. Then a line without a file name is a usage error. */
  readonly isSelected: ((name: string) => boolean) | undefined;
  /** Decides whether a listing may start. If nothing may start any more, `list` throws the reason. */
  readonly decideStart: () => Start;
  /** Returns whether the done list has a filing. Returns true at most once for each filing, because it counts them. */
  readonly isAlreadyDone: (accession: AccessionNumber) => boolean;
  /** Number of listings at the same time. No listing starts while as many files wait. */
  readonly jobs: number;
  /** Called when `next` may return an item, or the end is known. */
  readonly wake: () => void;
}

/** Number of names between yields to the event loop. */
const NAMES_PER_SLICE = 1000;
/** Kinds of items that count as files of the run. */
const FILE_KINDS: ReadonlySet<Item['kind']> = new Set(['file', 'refused', 'unlisted', 'bad']);

/** The items of one run. */
export class Selection {
  readonly #input: AsyncIterator<readonly Line[]>;
  readonly #options: SelectionOptions;
  readonly #check: NameCheck;
  readonly #seenFilings = new LargeMap<AccessionNumber, true>();
  readonly #listings = new Set<Promise<void>>();
  readonly #stop = createAbortController();
  /** Results of listings, and the index of the next one. */
  #results: (NamedFile | Item)[] = [];
  #resultIndex = 0;
  /** The current lines, and the index of the next one. */
  #lines: readonly Line[] = [];
  #lineIndex = 0;
  /** The lines after `#lines`, read early so that the end of the input is known early. */
  #ahead: readonly Line[] | undefined;
  #reading: Promise<void> | undefined;
  /** Whether the input was read to its end. */
  #isRead = false;
  /** Number of files that `next` has returned. */
  #files = 0;
  /** Sum of the listed sizes of all files so far, and the number of files without a listed size. */
  #bytes = 0;
  #unsized = 0;
  /** The error that ended the input, or a defect in `list`. */
  error: unknown;

  constructor(input: AsyncIterable<readonly Line[]>, options: SelectionOptions) {
    this.#input = input[Symbol.asyncIterator]();
    this.#options = options;
    this.#check = new NameCheck(options.layout);
  }

  /** Whether `next` has returned all items. */
  get isEnded(): boolean {
    return this.#isRead && this.remaining === 0;
  }

  /** The number of items that were read and not returned yet. A filing without its listing counts as one. */
  get remaining(): number {
    return this.#remainingLines + this.#remainingResults + this.#listings.size;
  }

  /**
   * The number of all files. Undefined while the input is not read to its end or a listing is missing. A file that
   * later lines name again counts twice until these lines are consumed.
   */
  get files(): number | undefined {
    if (!this.#isRead || this.#listings.size > 0) return undefined;
    const rest = [...this.#lines.slice(this.#lineIndex), ...(this.#ahead ?? [])];
    return rest.some((line) => this.#isFiling(line)) ? undefined : this.#files + this.remaining;
  }

  /** The sum of all listed sizes, and the number of files without one. Undefined while `files` is undefined. */
  get sizes(): { readonly bytes: number; readonly unsized: number } | undefined {
    return this.files === undefined ? undefined : { bytes: this.#bytes, unsized: this.#unsized + this.#remainingLines };
  }

  /** Returns the next item, or undefined if none is ready (`wake` follows) or all are returned. */
  next(): Item | undefined {
    this.#readAhead();
    const item = this.#remainingResults > 0 ? this.#consumeResult() : this.#consumeLine();
    if (item && FILE_KINDS.has(item.kind)) this.#files += 1;
    if (item && 'size' in item) {
      const isListed = item.filing !== undefined;
      // The size of a listed file was added with its listing.
      if (item.kind === 'duplicate' && isListed) this.#addSize(item, -1);
      else if (item.kind !== 'duplicate' && !isListed) this.#addSize(item, 1);
    }
    return item;
  }

  /** Cancels the listings and counts the remaining items. Returns undefined if `signal` aborts first. */
  async cancel(signal: AbortSignal): Promise<number | undefined> {
    let { remaining } = this;
    this.#stop.abort();
    await Promise.all(this.#listings);
    if (this.#reading) {
      // A pending read means that there were no lines ahead, so none of them are in `remaining` yet.
      await this.#reading;
      remaining += this.#ahead?.length ?? 0;
    }
    while (!this.#isRead && !signal.aborted) {
      const { value, done } = await this.#input.next();
      if (done) this.#isRead = true;
      else remaining += value.length;
    }
    return this.#isRead && !this.error ? remaining : undefined;
  }

  get #remainingLines(): number {
    return this.#lines.length - this.#lineIndex + (this.#ahead?.length ?? 0);
  }

  get #remainingResults(): number {
    return this.#results.length - this.#resultIndex;
  }

  /** Starts the listings of the next filings, and reads the next lines. */
  #readAhead(): void {
    const { jobs, isAlreadyDone } = this.#options;
    for (let line = this.#nextLine(); line && this.#isFiling(line); line = this.#nextLine()) {
      if (this.#listings.size >= jobs || this.#remainingResults >= jobs) break;
      const { accession } = line;
      const isNew = !this.#seenFilings.has(accession) && !isAlreadyDone(accession);
      if (isNew && !this.#canList()) break;
      this.#lineIndex += 1;
      this.#seenFilings.set(accession, true);
      if (isNew) this.#startListing(accession);
    }
    if (this.#ahead === undefined && !this.#isRead) this.#reading ??= this.#read();
  }

  /** Returns the next line without consuming it, or undefined while none is read. */
  #nextLine(): Line | undefined {
    if (this.#lineIndex === this.#lines.length && this.#ahead) {
      [this.#lines, this.#lineIndex, this.#ahead] = [this.#ahead, 0, undefined];
    }
    return this.#lines[this.#lineIndex];
  }

  /** Returns whether a listing may start. Beyond a limit, the files that already wait come first. */
  #canList(): boolean {
    const start = this.#options.decideStart();
    const isIdle = this.#listings.size === 0 && this.#remainingResults === 0;
    return start === 'start' || (start !== 'wait' && isIdle);
  }

  /** Returns whether a line is a filing whose files are selected from its listing. */
  #isFiling(line: Line): line is Entry {
    return line.kind === 'entry' && line.file === undefined && this.#options.isSelected !== undefined;
  }

  async #read(): Promise<void> {
    try {
      const { value, done } = await this.#input.next();
      if (done) this.#isRead = true;
      else this.#ahead = value;
    } catch (error) {
      this.error ??= error;
      this.#isRead = true;
    }
    this.#reading = undefined;
    this.#options.wake();
  }

  #startListing(accession: AccessionNumber): void {
    const listing: Promise<void> = this.#list(accession).then((items) => {
      this.#listings.delete(listing);
      for (const item of items) if ('size' in item) this.#addSize(item, 1);
      this.#results = [...this.#results.slice(this.#resultIndex), ...items];
      this.#resultIndex = 0;
      this.#options.wake();
    });
    this.#listings.add(listing);
  }

  #addSize({ size }: Pick<NamedFile, 'size'>, sign: 1 | -1): void {
    if (size === undefined) this.#unsized += sign;
    else this.#bytes += sign * size;
  }

  async #list(accession: AccessionNumber): Promise<readonly (NamedFile | Item)[]> {
    try {
      const listed = await this.#options.list(accession, this.#stop.signal);
      const files = await this.#selectFiles(listed);
      if (files.length === 0) return [{ kind: 'unmatched', accession, files: listed.length }];
      const filing = { accession, files: files.length, missing: files.length };
      return files.map((file) => ({ accession, fileName: file.file_name, size: listedSize(file), filing }));
    } catch (error) {
      if (error instanceof FilingsError) return [{ kind: 'unlisted', accession, error }];
      // Errors after the cancellation are its consequences.
      if (!this.#stop.signal.aborted) this.error ??= error;
      return [];
    }
  }

  async #selectFiles(files: readonly ListedFile[]): Promise<readonly ListedFile[]> {
    const selected: ListedFile[] = [];
    for (const [index, file] of files.entries()) {
      if (index % NAMES_PER_SLICE === NAMES_PER_SLICE - 1) await yieldToEventLoop(this.#stop.signal);
      if (this.#options.isSelected?.(file.file_name)) selected.push(file);
    }
    return selected;
  }

  #consumeResult(): Item | undefined {
    const item = this.#results[this.#resultIndex];
    this.#resultIndex += 1;
    return item && !('kind' in item) ? this.#check.check(item) : item;
  }

  #consumeLine(): Item | undefined {
    const line = this.#nextLine();
    // No line is read yet, or the filing's listing has to wait until other files are consumed.
    if (line === undefined || this.#isFiling(line)) return undefined;
    this.#lineIndex += 1;
    if (line.kind === 'bad') return line;
    const { accession, file: fileName, number } = line;
    if (fileName === undefined) return { kind: 'bad', number, error: noFilesSelected(accession, number) };
    return this.#check.check({ accession, fileName, size: undefined, filing: undefined });
  }
}

function noFilesSelected(accession: AccessionNumber, number: number): FilingsError {
  return new FilingsError('usage', 'no files selected', {
    subject: { line: number, name: accession },
    hint: 'name files after it, or add --all or --include GLOB',
    stopsRun: true,
  });
}
