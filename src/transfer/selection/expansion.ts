import { takeTurn } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import { type ListedFile, listedSize } from '../../service/listing/listing.ts';
import { ahead } from './ahead.ts';
import type { Expanded } from './expanded.ts';
import type { InputLine } from './input-lines.ts';
import type { Layout } from './layout.ts';
import { NameCheck } from './name-check.ts';

/** A line of the input, or what an argument names. */
export type Selected = Exclude<InputLine, { kind: 'ignored' }> & { readonly number?: number };

export interface ExpansionOptions {
  readonly list: (accession: AccessionNumber, signal: AbortSignal) => Promise<readonly ListedFile[]>;
  readonly layout: Layout;
  /** Undefined: nothing says what to take of a filing that stands alone, which is a usage error. */
  readonly chosen: ((name: string) => boolean) | undefined;
  /** Whether a filing is passed over, since the done list has it. Asked once of each. */
  readonly passesOver?: (accession: AccessionNumber) => boolean;
  /** So many listings are asked for at the same time. */
  readonly jobs: number;
  readonly signal: AbortSignal;
  /** Told of each thing as it is handed out, in that order, before who takes it. */
  readonly onTaken?: (item: Expanded) => void;
}

/** A selection of which all is known. */
export interface Extent {
  readonly files: number;
  /** Bytes of those that were not handed out; undefined where nobody has told the size of one. */
  readonly waiting: number | undefined;
}

/** So many names are matched before others have their turn. */
const NAMES_A_TURN = 1000;
/** What ends as a file, well or not. */
const FILES: ReadonlySet<Expanded['kind']> = new Set(['file', 'refused', 'unlisted', 'bad']);

/** A line, with the listing of a filing that stands alone: its files, or why there are none. */
interface Looked {
  readonly selected: Selected;
  readonly listing?: readonly ListedFile[] | FilingsError | undefined;
}

/**
 * From what is named to the files of the run, in the order of the input; some listings are asked for ahead.
 * `next()` may be called by many at once. It throws the signal's reason and, behind all that came before it, what
 * `lines` throws.
 */
export class Expansion implements AsyncIterable<Expanded> {
  readonly #options: ExpansionOptions;
  readonly #check: NameCheck;
  readonly #listed = new Set<AccessionNumber>();
  readonly #stop = new AbortController();
  readonly #items: AsyncGenerator<Expanded, undefined>;
  #isRead = false;
  /** Lines that were read and have not come to their end. */
  #lines = 0;
  /** Chosen files of the filing that is being handed out, of which so many were. */
  #chosen: readonly ListedFile[] = [];
  #given = 0;
  #files = 0;

  constructor(lines: AsyncIterable<Selected>, options: ExpansionOptions) {
    this.#options = options;
    this.#check = new NameCheck(options.layout);
    this.#items = this.#expand(lines, AbortSignal.any([options.signal, this.#stop.signal]));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Expanded, undefined>> {
    const next = await this.#items.next();
    if (!next.done) this.#options.onTaken?.(next.value);
    return next;
  }

  /** Calls off what is under way. May be called again. */
  async return(): Promise<IteratorResult<Expanded, undefined>> {
    this.#stop.abort();
    return this.#items.return(undefined);
  }

  /** How many of those that were read were not handed out, also at the end; a filing without its listing counts as one. */
  left(): number {
    return this.#chosen.length - this.#given + this.#lines;
  }

  /** What the whole selection is; undefined while lines or listings are missing. */
  get extent(): Extent | undefined {
    if (!this.#isRead || this.#lines > 0) return undefined;
    const waiting = this.#chosen.slice(this.#given);
    return {
      files: this.#files + waiting.length,
      waiting: waiting.reduce<number | undefined>((sum, file) => {
        const size = listedSize(file);
        return sum === undefined || size === undefined ? undefined : sum + size;
      }, 0),
    };
  }

  async *#expand(lines: AsyncIterable<Selected>, signal: AbortSignal): AsyncGenerator<Expanded, undefined> {
    try {
      const looked = ahead(this.#read(lines), this.#options.jobs, (line) => this.#look(line, signal), signal);
      for await (const one of looked) {
        this.#lines -= 1;
        for await (const item of this.#itemsOf(one, signal)) {
          signal.throwIfAborted();
          if (FILES.has(item.kind)) this.#files += 1;
          yield item;
        }
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
    return undefined;
  }

  /** Each filing that stands alone once, and none that is passed over. */
  async *#read(lines: AsyncIterable<Selected>): AsyncGenerator<Selected> {
    for await (const line of lines) {
      if (line.kind === 'entry' && line.file === undefined && this.#options.chosen) {
        if (this.#listed.has(line.accession)) continue;
        this.#listed.add(line.accession);
        if (this.#options.passesOver?.(line.accession)) continue;
      }
      this.#lines += 1;
      yield line;
    }
    this.#isRead = true;
  }

  async #look(selected: Selected, signal: AbortSignal): Promise<Looked> {
    if (selected.kind === 'bad' || selected.file !== undefined || !this.#options.chosen) return { selected };
    try {
      return { selected, listing: await this.#options.list(selected.accession, signal) };
    } catch (error) {
      if (error instanceof FilingsError && !signal.aborted) return { selected, listing: error };
      throw error;
    }
  }

  async *#itemsOf({ selected, listing }: Looked, signal: AbortSignal): AsyncGenerator<Expanded> {
    if (selected.kind === 'bad') return yield { kind: 'bad', number: selected.number, error: selected.fault };
    const { accession, file: fileName, number } = selected;
    if (fileName !== undefined) {
      const item = this.#check.check({ accession, fileName, size: undefined, listed: false });
      if (item) yield item;
    } else if (listing === undefined) yield { kind: 'bad', number, error: nothingChosen(accession) };
    else if (listing instanceof FilingsError) yield { kind: 'unlisted', accession, error: listing };
    else yield* this.#chosenOf(accession, listing, signal);
  }

  async *#chosenOf(
    accession: AccessionNumber,
    listing: readonly ListedFile[],
    signal: AbortSignal,
  ): AsyncGenerator<Expanded> {
    const { chosen = () => true } = this.#options;
    const files: ListedFile[] = [];
    for (const [index, file] of listing.entries()) {
      if (index % NAMES_A_TURN === NAMES_A_TURN - 1) await takeTurn(signal);
      if (chosen(file.file_name)) files.push(file);
    }
    if (files.length === 0) return yield { kind: 'unmatched', accession, files: listing.length };
    [this.#chosen, this.#given] = [files, 0];
    for (const file of files) {
      this.#given += 1;
      const { file_name: fileName } = file;
      const item = this.#check.check({ accession, fileName, size: listedSize(file), listed: true });
      if (item) yield item;
    }
    yield { kind: 'listed', accession, files: files.length };
  }
}

function nothingChosen(accession: AccessionNumber): FilingsError {
  return new FilingsError('usage', `${accession}: no files selected`, {
    hint: 'name a file on its line, or add --all or --include GLOB',
    stopsRun: true,
  });
}
