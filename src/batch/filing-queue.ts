import { setImmediate } from 'node:timers/promises';
import { errorAbout, FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type ListedFile, listedSize } from '../service/listing/listing.ts';
import type { Expanded } from './expanded.ts';
import type { NamedFile } from './name-check.ts';

/** So many listings are under way while every job is busy. */
const AHEAD = 2;
/** So many names are matched before others have their turn. */
const SLICE = 1000;

export interface FilingQueueOptions {
  readonly list: (accession: AccessionNumber, signal: AbortSignal) => Promise<readonly ListedFile[]>;
  readonly chosen: (name: string) => boolean;
  readonly jobs: number;
  /** How many jobs have nothing to do. */
  readonly idle: () => number;
  /** Called when a listing has come; with an error that is a defect. */
  readonly onListed: (defect?: unknown) => void;
}

type ChosenFile = Pick<NamedFile, 'fileName' | 'size'>;

/** A filing that waits to be listed, or whose chosen files are handed out. */
interface Filing {
  readonly accession: AccessionNumber;
  state: 'held' | 'asked' | 'listed';
  files: readonly ChosenFile[];
  given: number;
  /** How many files its listing has. */
  listed: number;
  error?: FilingsError;
}

/**
 * Filings in the order of the input, each listed a little before its files are needed: one listing at first, one more for
 * each that came, as many as jobs are idle, and two while all are busy. None while files enough for every job wait.
 */
export class FilingQueue {
  readonly #options: FilingQueueOptions;
  readonly #filings: Filing[] = [];
  readonly #asking = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #answered = 0;

  constructor(options: FilingQueueOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#filings.length === 0;
  }

  get isFull(): boolean {
    return this.#filings.length >= 2 * this.#options.jobs;
  }

  /** Whether a filing in it waits for its listing. */
  get isListing(): boolean {
    return this.#filings.some(({ state }) => state !== 'listed');
  }

  /** How many files it could give now. */
  get waiting(): number {
    return this.#filings.reduce((sum, { files, given }) => sum + files.length - given, 0);
  }

  /** How many are left in it, as far as anybody knows: a filing without its listing is one. */
  get left(): number {
    return this.waiting + this.#filings.filter(({ state }) => state !== 'listed').length;
  }

  /** Bytes of the files that it could give now; undefined where a listing does not tell them. */
  get bytes(): number | undefined {
    const due = this.#filings.flatMap(({ files, given }) => files.slice(given));
    return due.reduce<number | undefined>(
      (sum, { size }) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    );
  }

  put(accession: AccessionNumber): void {
    this.#filings.push({ accession, state: 'held', files: [], given: 0, listed: 0 });
  }

  /** The next file of the first filing that has one, or how a filing has ended; undefined while listings are missing. */
  next(): NamedFile | Exclude<Expanded, { kind: 'file' }> | undefined {
    this.#ask();
    const at = this.#filings.findIndex(({ state }) => state === 'listed');
    const filing = this.#filings[at];
    if (filing === undefined) return undefined;
    const { accession, files, listed, error } = filing;
    const file = files[filing.given];
    if (file !== undefined) {
      filing.given += 1;
      return { accession, fileName: file.fileName, size: file.size, listed: true };
    }
    this.#filings.splice(at, 1);
    if (error) return { kind: 'unlisted', accession, error };
    return files.length === 0
      ? { kind: 'unmatched', accession, files: listed }
      : { kind: 'listed', accession, files: files.length };
  }

  /** Calls off the listings under way. */
  async cancel(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#asking);
  }

  #ask(): void {
    const { jobs, idle } = this.#options;
    const held = this.#filings.filter(({ state }) => state === 'held');
    if (held.length === 0 || this.waiting >= jobs) return;
    const most = Math.min(jobs, 1 + this.#answered, Math.max(AHEAD, idle()));
    for (const filing of held.slice(0, Math.max(0, most - this.#asking.size))) {
      filing.state = 'asked';
      const asking: Promise<void> = this.#list(filing).then(
        () => this.#listed(asking),
        (defect) => this.#listed(asking, defect),
      );
      this.#asking.add(asking);
    }
  }

  #listed(asking: Promise<void>, defect?: unknown): void {
    this.#asking.delete(asking);
    this.#answered += 1;
    if (!this.#stop.signal.aborted) this.#options.onListed(defect);
  }

  async #list(filing: Filing): Promise<void> {
    const { list, chosen } = this.#options;
    const { accession } = filing;
    try {
      const files = await list(accession, this.#stop.signal);
      if (files.length === 0) throw noFiles(accession);
      filing.files = await chosenOf(files, chosen);
      filing.listed = files.length;
    } catch (error) {
      if (!(error instanceof FilingsError)) throw error;
      filing.error = error;
    }
    filing.state = 'listed';
  }
}

function noFiles(accession: AccessionNumber): FilingsError {
  return errorAbout({ accession }, 'not_found', 'the service lists no files', { hint: 'check the accession number' });
}

async function chosenOf(
  files: readonly ListedFile[],
  chosen: (name: string) => boolean,
): Promise<readonly ChosenFile[]> {
  const kept: ChosenFile[] = [];
  for (let at = 0; at < files.length; at += SLICE) {
    if (at > 0) await setImmediate();
    for (const file of files.slice(at, at + SLICE)) {
      if (chosen(file.file_name)) kept.push({ fileName: file.file_name, size: listedSize(file) });
    }
  }
  return kept;
}
