import { createAbortController, yieldToEventLoop } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { LargeMap } from '../large-map.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type ListedFile, listedSize } from '../service/listing.ts';
import type { Entry, Line } from './input.ts';
import type { Item, NamedFile } from './item.ts';
import type { Layout } from './layout.ts';
import type { Start } from './limits.ts';
import { NameCheck } from './name-check.ts';

export interface SelectionOptions {
  readonly list: (accession: AccessionNumber, signal: AbortSignal) => Promise<readonly ListedFile[]>;
  readonly layout: Layout;
  /** Undefined: nothing says what to take of a filing that comes alone, which is a usage error. */
  readonly chosen: ((name: string) => boolean) | undefined;
  /** Whether a listing may start. If nothing may start any more, `list` says why. */
  readonly mayStart: () => Start;
  /** Whether a filing is passed over, because the done list has it. True at most once for each filing. */
  readonly isAlreadyDone: (accession: AccessionNumber) => boolean;
  /** So many listings are asked for at the same time, and none while so many files wait. */
  readonly jobs: number;
  /** Called when `next` may have something to give, or the end is known. */
  readonly wake: () => void;
}

const NAMES_A_TURN = 1000;
/** What ends as a file, well or not. */
const FILES: ReadonlySet<Item['kind']> = new Set(['file', 'refused', 'unlisted', 'bad']);

/** In the order of the input, as far as no file waits for another filing's listing. */
export class Selection {
  readonly #input: AsyncIterator<readonly Line[]>;
  readonly #options: SelectionOptions;
  readonly #check: NameCheck;
  readonly #known = new LargeMap<AccessionNumber, true>();
  readonly #listings = new Set<Promise<void>>();
  readonly #stop = createAbortController();
  /** What came of listings, and how many of these were handed out. */
  #listed: (NamedFile | Item)[] = [];
  #given = 0;
  /** Lines that were read, and how many of these were taken. */
  #lines: readonly Line[] = [];
  #taken = 0;
  /** The lines that follow, read ahead so that the end of the input is known early. */
  #ahead: readonly Line[] | undefined;
  #reading: Promise<void> | undefined;
  #isRead = false;
  #files = 0;
  /** Listed bytes of the files of all listings, and how many files that were listed or handed out have no listed size. */
  #bytes = 0;
  #unsized = 0;
  /** What the input, or a defect in listing, ended it with. */
  error: unknown;

  constructor(input: AsyncIterable<readonly Line[]>, options: SelectionOptions) {
    this.#input = input[Symbol.asyncIterator]();
    this.#options = options;
    this.#check = new NameCheck(options.layout);
  }

  get isEnded(): boolean {
    return this.#isRead && this.left === 0;
  }

  /** How many were read and not handed out; a filing without its listing is one. */
  get left(): number {
    return this.#untaken + this.#waiting + this.#listings.size;
  }

  /**
   * How many files there are in all; undefined while the input is not read to its end or a listing is missing. A file
   * that later lines name again counts twice until these are taken.
   */
  get files(): number | undefined {
    if (!this.#isRead || this.#listings.size > 0) return undefined;
    const rest = [...this.#lines.slice(this.#taken), ...(this.#ahead ?? [])];
    return rest.some((line) => this.#isFiling(line)) ? undefined : this.#files + this.left;
  }

  /** Listed bytes of all files, and how many files have no listed size; undefined while `files` is. */
  get sizes(): { readonly bytes: number; readonly unsized: number } | undefined {
    return this.files === undefined ? undefined : { bytes: this.#bytes, unsized: this.#unsized + this.#untaken };
  }

  /** The next thing; undefined while nothing is there, until `wake`, and at the end. */
  next(): Item | undefined {
    this.#readAhead();
    const item = this.#waiting > 0 ? this.#ofListing() : this.#ofLine();
    if (item && FILES.has(item.kind)) this.#files += 1;
    if (item && 'size' in item) {
      const isListed = item.filing !== undefined;
      // The size of a listed file was added with its listing.
      if (item.kind === 'duplicate' && isListed) this.#addSize(item, -1);
      else if (item.kind !== 'duplicate' && !isListed) this.#addSize(item, 1);
    }
    return item;
  }

  /** Calls off what is under way, and counts the rest of the input; undefined when `signal` aborts before. */
  async cancel(signal: AbortSignal): Promise<number | undefined> {
    let { left } = this;
    this.#stop.abort();
    await Promise.all(this.#listings);
    // Lines are read ahead only while none are held ahead, so that what is being read is not in `left` yet.
    if (this.#reading) await this.#reading.then(() => (left += this.#ahead?.length ?? 0));
    while (!this.#isRead && !signal.aborted) {
      const { value, done } = await this.#input.next();
      if (done) this.#isRead = true;
      else left += value.length;
    }
    return this.#isRead && !this.error ? left : undefined;
  }

  get #untaken(): number {
    return this.#lines.length - this.#taken + (this.#ahead?.length ?? 0);
  }

  get #waiting(): number {
    return this.#listed.length - this.#given;
  }

  /** Asks for the listings of the next filings, and reads on. */
  #readAhead(): void {
    const { jobs, isAlreadyDone } = this.#options;
    for (let line = this.#nextLine(); line && this.#isFiling(line); line = this.#nextLine()) {
      if (this.#listings.size >= jobs || this.#waiting >= jobs) break;
      const { accession } = line;
      const isNew = !this.#known.has(accession) && !isAlreadyDone(accession);
      if (isNew && !this.#mayAsk()) break;
      this.#taken += 1;
      this.#known.set(accession, true);
      if (isNew) this.#ask(accession);
    }
    if (this.#ahead === undefined && !this.#isRead) this.#reading ??= this.#read();
  }

  /** Returns the next line without taking it; undefined while none is read. */
  #nextLine(): Line | undefined {
    if (this.#taken === this.#lines.length && this.#ahead) {
      [this.#lines, this.#taken, this.#ahead] = [this.#ahead, 0, undefined];
    }
    return this.#lines[this.#taken];
  }

  /** Beyond a limit only when nothing else is left, because what waits here may complete a download. */
  #mayAsk(): boolean {
    const start = this.#options.mayStart();
    const isIdle = this.#listings.size === 0 && this.#waiting === 0;
    return start === 'start' || (start !== 'wait' && isIdle);
  }

  /** A filing whose files are chosen from its listing. */
  #isFiling(line: Line): line is Entry {
    return line.kind === 'entry' && line.file === undefined && this.#options.chosen !== undefined;
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

  #ask(accession: AccessionNumber): void {
    const listing: Promise<void> = this.#list(accession).then((items) => {
      this.#listings.delete(listing);
      for (const item of items) if ('size' in item) this.#addSize(item, 1);
      this.#listed = [...this.#listed.slice(this.#given), ...items];
      this.#given = 0;
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
      const files = await this.#chosenOf(listed);
      if (files.length === 0) return [{ kind: 'unmatched', accession, files: listed.length }];
      const filing = { accession, files: files.length, missing: files.length };
      return files.map((file) => ({ accession, fileName: file.file_name, size: listedSize(file), filing }));
    } catch (error) {
      if (error instanceof FilingsError) return [{ kind: 'unlisted', accession, error }];
      // Once it is called off, whatever it throws is due to that.
      if (!this.#stop.signal.aborted) this.error ??= error;
      return [];
    }
  }

  async #chosenOf(files: readonly ListedFile[]): Promise<readonly ListedFile[]> {
    const kept: ListedFile[] = [];
    for (const [index, file] of files.entries()) {
      if (index % NAMES_A_TURN === NAMES_A_TURN - 1) await yieldToEventLoop(this.#stop.signal);
      if (this.#options.chosen?.(file.file_name)) kept.push(file);
    }
    return kept;
  }

  #ofListing(): Item | undefined {
    const item = this.#listed[this.#given];
    this.#given += 1;
    return item && !('kind' in item) ? this.#check.check(item) : item;
  }

  #ofLine(): Item | undefined {
    const line = this.#nextLine();
    // Nothing is read yet, or the filing has to wait until other files are taken.
    if (line === undefined || this.#isFiling(line)) return undefined;
    this.#taken += 1;
    if (line.kind === 'bad') return line;
    const { accession, file: fileName, number } = line;
    if (fileName === undefined) return { kind: 'bad', number, error: nothingChosen(accession, number) };
    return this.#check.check({ accession, fileName, size: undefined, filing: undefined });
  }
}

function nothingChosen(accession: AccessionNumber, number: number): FilingsError {
  return new FilingsError('usage', 'no files selected', {
    subject: { line: number, name: accession },
    hint: 'name files after it, or add --all or --include GLOB',
    stopsRun: true,
  });
}
