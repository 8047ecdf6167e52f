import { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { Expanded } from './expanded.ts';
import { FilingQueue, type FilingQueueOptions } from './filing-queue.ts';
import type { InputEntry, InputLine } from './input-lines.ts';
import type { Layout } from './layout.ts';
import { NameCheck } from './name-check.ts';

/** A line of the input, or what an argument names. */
export type Selected = Exclude<InputLine, { kind: 'ignored' }> & {
  readonly number?: number;
  /** Bytes of the input up to the end of this line. */
  readonly end?: number;
};

export interface SelectionOptions extends Pick<FilingQueueOptions, 'list' | 'jobs' | 'idle'> {
  readonly layout: Layout;
  /** Undefined: nothing says what to take of a filing that stands alone, which is a usage error. */
  readonly chosen: ((name: string) => boolean) | undefined;
  /** Whether a filing is passed over, since the done list has it. Asked once of each. */
  readonly passesOver: (accession: AccessionNumber) => boolean;
  /** Called when `next` may have something to give, or the end is known. */
  readonly wake: () => void;
}

/** A selection of which all is known. */
export interface Extent {
  readonly files: number;
  /** Bytes of those that were not handed out; undefined where nobody has told the size of one. */
  readonly waiting: number | undefined;
}

/** What ends as a file, well or not. */
const FILES: ReadonlySet<Expanded['kind']> = new Set(['file', 'refused', 'unlisted', 'bad']);

/** From lines to the files of a run, in the order of the input as far as no file waits for another filing's listing. */
export class Selection {
  readonly #input: AsyncIterator<readonly Selected[]>;
  readonly #options: SelectionOptions;
  readonly #check: NameCheck;
  readonly #filings: FilingQueue;
  readonly #known = new Set<AccessionNumber>();
  #lines: readonly Selected[] = [];
  #at = 0;
  #reading: Promise<void> | undefined;
  #isRead = false;
  #files = 0;
  /** Bytes of the input up to the last line that was taken. */
  bytesRead = 0;
  /** What the input, or a defect in listing, ended it with. */
  error: unknown;

  constructor(input: AsyncIterable<readonly Selected[]>, options: SelectionOptions) {
    this.#input = input[Symbol.asyncIterator]();
    this.#options = options;
    this.#check = new NameCheck(options.layout);
    const onListed = (defect?: unknown) => {
      this.error ??= defect;
      options.wake();
    };
    const { list, chosen = () => true, jobs, idle } = options;
    this.#filings = new FilingQueue({ list, chosen, jobs, idle, onListed });
  }

  /** Everything was handed out. */
  get isEnded(): boolean {
    return this.#isRead && this.#at === this.#lines.length && this.#filings.isEmpty;
  }

  /** What the whole selection is; undefined while lines or listings are missing. */
  get extent(): Extent | undefined {
    if (!this.#isRead || this.#at < this.#lines.length || this.#filings.isListing) return undefined;
    return { files: this.#files + this.#filings.waiting, waiting: this.#filings.bytes };
  }

  /** The next thing; undefined while nothing is there, until `wake`, and at the end. */
  next(): Expanded | undefined {
    for (;;) {
      this.#readAhead();
      const listed = this.#filings.next();
      const item = listed && ('kind' in listed ? listed : this.#check.check(listed));
      if (item) return this.#counted(item);
      if (listed) continue;
      const line = this.#lines[this.#at];
      // A filing that has no room yet, or the end of what was read.
      if (line === undefined || (isFiling(line) && this.#options.chosen)) return undefined;
      this.#took(line);
      const named = this.#ofLine(line);
      if (named) return this.#counted(named);
    }
  }

  /** How many were read and not handed out; a filing without its listing is one. */
  get left(): number {
    return this.#lines.length - this.#at + this.#filings.left;
  }

  /** How many lines nobody has read, unless counting them is called off. */
  async unread(signal: AbortSignal): Promise<number | undefined> {
    await this.#reading;
    if (this.error) return undefined;
    for (let count = 0; ; ) {
      if (this.#isRead) return count;
      if (signal.aborted) return undefined;
      const { value, done } = await this.#input.next();
      if (done) return count;
      count += value.length;
    }
  }

  /** Calls off what is under way. */
  cancel(): Promise<void> {
    return this.#filings.cancel();
  }

  /** Filings wait in their queue, so that they can be listed before their turn. */
  #readAhead(): void {
    for (
      let line = this.#lines[this.#at];
      line && isFiling(line) && !this.#filings.isFull;
      line = this.#lines[this.#at]
    ) {
      if (this.#options.chosen === undefined) return;
      this.#took(line);
      const { accession } = line;
      if (this.#known.has(accession)) continue;
      this.#known.add(accession);
      if (!this.#options.passesOver(accession)) this.#filings.put(accession);
    }
    if (this.#at === this.#lines.length && !this.#isRead && this.#filings.waiting < 2 * this.#options.jobs) {
      this.#reading ??= this.#read();
    }
  }

  async #read(): Promise<void> {
    try {
      const { value, done } = await this.#input.next();
      if (done) this.#isRead = true;
      else [this.#lines, this.#at] = [value, 0];
    } catch (error) {
      this.error ??= error;
      this.#isRead = true;
    }
    this.#reading = undefined;
    this.#options.wake();
  }

  #ofLine(line: Selected): Expanded | undefined {
    if (line.kind === 'bad') return { kind: 'bad', number: line.number, error: line.fault };
    const { accession, file: fileName } = line;
    if (fileName === undefined) return { kind: 'bad', number: line.number, error: nothingChosen(line) };
    return this.#check.check({ accession, fileName, size: undefined, listed: false });
  }

  #took(line: Selected): void {
    this.#at += 1;
    this.bytesRead = line.end ?? 0;
  }

  #counted(item: Expanded): Expanded {
    if (FILES.has(item.kind)) this.#files += 1;
    return item;
  }
}

/** A filing whose files are chosen from its listing. */
function isFiling(line: Selected): line is Selected & InputEntry {
  return line.kind === 'entry' && line.file === undefined;
}

function nothingChosen({ accession }: InputEntry): FilingsError {
  return new FilingsError('usage', `${accession}: no files selected`, {
    hint: 'add --all or --include GLOB',
    stopsRun: true,
  });
}
