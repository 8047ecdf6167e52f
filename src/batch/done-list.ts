import { createHash } from 'node:crypto';
import { AppendFile } from '../disk/append.ts';
import { readPlain } from '../disk/plain-file.ts';
import { FilingsError } from '../errors.ts';
import { LargeMap } from '../large-map.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { wholeLines } from './input.ts';
import type { ChosenFiling } from './item.ts';

interface Choice {
  /** Normalised base URL, or `sandbox`. */
  readonly service: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly layout: string;
  readonly directory: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

/**
 * 16 hex digits of SHA-256 over the JSON array of service, include globs, exclude globs, layout, directory and query.
 * The order of globs, and one given twice, change nothing.
 */
export function selectionId({ service, include, exclude, layout, directory, query }: Choice): string {
  const text = JSON.stringify([service, sorted(include), sorted(exclude), layout, directory, query]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function sorted(globs: readonly string[]): string[] {
  return [...new Set(globs)].sort();
}

/** `ACCESSION<TAB>SELECTION<TAB>TIME<TAB>FILES`. */
const LINE = /^([0-9]{10}-[0-9]{2}-[0-9]{6})\t([0-9a-f]{16})\t[0-9T:.Z+-]+\t[0-9]+$/;
/** A line of ours has 66 bytes. */
const MAX_LINE = 200;

export interface DoneListOptions {
  readonly path: string;
  /** Entries of others are passed over. */
  readonly selection: string;
  readonly now: () => number;
  /** Nothing is made or written. */
  readonly readOnly: boolean;
}

/** `--done`. */
export class DoneList {
  readonly #options: DoneListOptions;
  readonly #filings = new LargeMap<AccessionNumber, true>();
  #file: AppendFile | undefined;

  private constructor(options: DoneListOptions) {
    this.#options = options;
  }

  /** A missing list is made. Throws `local_io`, the signal's reason. */
  static async open(options: DoneListOptions, signal: AbortSignal): Promise<DoneList> {
    const list = new DoneList(options);
    try {
      if (!options.readOnly) list.#file = await AppendFile.open(options.path);
      await list.#read(signal);
      return list;
    } catch (error) {
      await list.close();
      throw ofDoneList(error);
    }
  }

  has(accession: AccessionNumber): boolean {
    return this.#filings.has(accession);
  }

  /** Throws `local_io`: then they do not count as done. */
  async add(filings: readonly Pick<ChosenFiling, 'accession' | 'files'>[]): Promise<void> {
    const { selection, now } = this.#options;
    const time = new Date(now()).toISOString().replace(/\.\d+/, '');
    const lines = filings.map(({ accession, files }) => `${accession}\t${selection}\t${time}\t${files}\n`);
    await this.#file?.write(lines.map((line) => Buffer.from(line))).catch((error) => {
      throw ofDoneList(error);
    });
    for (const { accession } of filings) this.#filings.set(accession, true);
  }

  async close(): Promise<void> {
    await this.#file?.end();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { path, selection } = this.#options;
    for await (const bytes of wholeLines(readPlain(path, path), MAX_LINE)) {
      signal.throwIfAborted();
      for (const line of bytes.toString('latin1').split('\n')) {
        const [, accession, of] = LINE.exec(line) ?? [];
        // A copy, since a piece would hold the whole text.
        if (accession && of === selection)
          this.#filings.set(Buffer.from(accession).toString() as AccessionNumber, true);
      }
    }
  }
}

function ofDoneList(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code !== 'local_io') return error;
  return error.with({ subject: { name: '--done' }, hint: 'choose another file with --done' });
}
