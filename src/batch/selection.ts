import { takeTurn } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type ListedFile, listedSize } from '../service/listing.ts';
import type { Entry, Line } from './input.ts';
import type { Item, NamedFile } from './item.ts';
import type { Layout } from './layout.ts';
import { NameCheck } from './name-check.ts';

export interface SelectionOptions {
  readonly list: (accession: AccessionNumber, signal: AbortSignal) => Promise<readonly ListedFile[]>;
  readonly layout: Layout;
  /** Undefined: nothing says what to take of a filing that comes alone, which is a usage error. */
  readonly chosen: ((name: string) => boolean) | undefined;
  /** Whether a filing is passed over, since the done list has it. Asked once of each. */
  readonly passesOver: (accession: AccessionNumber) => boolean;
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
  readonly #known = new Set<AccessionNumber>();
  readonly #listings = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  /** What came of listings, and how many of these were handed out. */
  #listed: (NamedFile | Item)[] = [];
  #given = 0;
  /** Lines that were read, and how many of these were taken. */
  #lines: readonly Line[] = [];
  #taken = 0;
  #reading: Promise<void> | undefined;
  #isRead = false;
  #files = 0;
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
    return this.#lines.length - this.#taken + this.#waiting + this.#listings.size;
  }

  /** How many files there are in all; undefined while lines or listings are missing. */
  get files(): number | undefined {
    return this.#isRead && this.left === this.#waiting ? this.#files + this.#waiting : undefined;
  }

  /** The next thing; undefined while nothing is there, until `wake`, and at the end. */
  next(): Item | undefined {
    this.#readAhead();
    const item = this.#waiting > 0 ? this.#ofListing() : this.#ofLine();
    if (item && FILES.has(item.kind)) this.#files += 1;
    return item;
  }

  /** Calls off what is under way, and counts the rest of the input; undefined when `signal` aborts before. */
  async cancel(signal: AbortSignal): Promise<number | undefined> {
    let { left } = this;
    this.#stop.abort();
    await Promise.all(this.#listings);
    // What is being read is read since all lines were taken.
    if (this.#reading) await this.#reading.then(() => (left += this.#lines.length - this.#taken));
    while (!this.#isRead && !signal.aborted) {
      const { value, done } = await this.#input.next();
      if (done) this.#isRead = true;
      else left += value.length;
    }
    return this.#isRead && !this.error ? left : undefined;
  }

  get #waiting(): number {
    return this.#listed.length - this.#given;
  }

  /** Asks for the listings of the next filings, and reads on. */
  #readAhead(): void {
    const { jobs, passesOver } = this.#options;
    for (let line = this.#lines[this.#taken]; line && this.#isFiling(line); line = this.#lines[this.#taken]) {
      if (this.#listings.size >= jobs || this.#waiting >= jobs) break;
      this.#taken += 1;
      if (this.#known.has(line.accession)) continue;
      this.#known.add(line.accession);
      if (!passesOver(line.accession)) this.#ask(line.accession);
    }
    if (this.#taken === this.#lines.length && !this.#isRead) this.#reading ??= this.#read();
  }

  /** A filing whose files are chosen from its listing. */
  #isFiling(line: Line): line is Entry {
    return line.kind === 'entry' && line.file === undefined && this.#options.chosen !== undefined;
  }

  async #read(): Promise<void> {
    try {
      const { value, done } = await this.#input.next();
      if (done) this.#isRead = true;
      else [this.#lines, this.#taken] = [value, 0];
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
      this.#listed = [...this.#listed.slice(this.#given), ...items];
      this.#given = 0;
      this.#options.wake();
    });
    this.#listings.add(listing);
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
      if (index % NAMES_A_TURN === NAMES_A_TURN - 1) await takeTurn(this.#stop.signal);
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
    const line = this.#lines[this.#taken];
    // The end of what was read, or a filing that has no room yet.
    if (line === undefined || this.#isFiling(line)) return undefined;
    this.#taken += 1;
    if (line.kind === 'bad') return line;
    const { accession, file: fileName, number } = line;
    if (fileName === undefined) return { kind: 'bad', number, error: nothingChosen(accession, number) };
    return this.#check.check({ accession, fileName, size: undefined, filing: undefined });
  }
}

function nothingChosen(accession: AccessionNumber, number: number): FilingsError {
  return new FilingsError('usage', `line ${number}: ${accession}: no files selected`, {
    hint: 'name files after it, or add --all or --include GLOB',
    stopsRun: true,
  });
}
