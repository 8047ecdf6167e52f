// The done list (`--done`) is a file that lists the filings that are complete on disk. A later run skips them without a
// request. A line counts only for a run with the same selection, because another one may choose other files.
import { createHash } from 'node:crypto';
import { AppendFile } from '../disk/append.ts';
import { readRegular } from '../disk/regular-file.ts';
import { FilingsError } from '../errors.ts';
import { readWholeLines } from '../input/lines.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { ChosenFiling } from './item.ts';

/**
 * Returns 16 hexadecimal digits of SHA-256 over what decides which files a filing has on disk, and where: the service,
 * the globs, the layout, the directory and the query.
 */
export function selectionId(...parts: readonly (string | readonly unknown[])[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** A line is `ACCESSION<TAB>SELECTION<TAB>TIME<TAB>FILES`. */
const LINE = /^([0-9]{10}-[0-9]{2}-[0-9]{6})\t([0-9a-f]{16})\t[0-9T:.Z+-]+\t[0-9]+$/;
/** A line of this program has 66 bytes. */
const MAX_LINE_BYTES = 200;

export interface DoneListOptions {
  readonly path: string;
  /** Entries with another selection are ignored. */
  readonly selection: string;
  readonly now: () => number;
  /** Whether the list is only read, as in a dry run. */
  readonly readOnly: boolean;
}

/** The filings that earlier runs completed, and the file to which this run appends. */
export class DoneList {
  readonly #options: DoneListOptions;
  readonly #filings = new Set<AccessionNumber>();
  #file: AppendFile | undefined;

  private constructor(options: DoneListOptions) {
    this.#options = options;
  }

  /** Opens the list and reads it. A missing list is created. Throws `local_io` or the signal's reason. */
  static async open(options: DoneListOptions, signal: AbortSignal): Promise<DoneList> {
    const list = new DoneList(options);
    try {
      if (!options.readOnly) list.#file = await AppendFile.open(options.path);
      await list.#read(signal);
      return list;
    } catch (error) {
      await list.close();
      throw asDoneListError(error);
    }
  }

  /** Returns whether a filing is done. */
  has(accession: AccessionNumber): boolean {
    return this.#filings.has(accession);
  }

  /** Appends filings, unless the list is read-only. Throws `local_io`. */
  async add(filings: readonly Pick<ChosenFiling, 'accession' | 'files'>[]): Promise<void> {
    const { selection, now } = this.#options;
    const time = new Date(now()).toISOString().replace(/\.\d+/, '');
    const lines = filings.map(({ accession, files }) => `${accession}\t${selection}\t${time}\t${files}\n`);
    await this.#file?.write(lines.map((line) => Buffer.from(line))).catch((error) => {
      throw asDoneListError(error);
    });
  }

  async close(): Promise<void> {
    await this.#file?.end();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { path, selection } = this.#options;
    for await (const bytes of readWholeLines(readRegular(path, path), MAX_LINE_BYTES)) {
      signal.throwIfAborted();
      for (const line of bytes.toString('latin1').split('\n')) {
        const [, accession, lineSelection] = LINE.exec(line) ?? [];
        if (accession === undefined || lineSelection !== selection) continue;
        // A copy, because a slice would keep the whole text in memory.
        this.#filings.add(Buffer.from(accession).toString() as AccessionNumber);
      }
    }
  }
}

function asDoneListError(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code !== 'local_io') return error;
  return error.with({ subject: { name: '--done' }, hint: 'choose another file with --done' });
}
