// The done list (`--done`) is a file with a line for each filing whose selected files are all on disk. A later run with
// the same selection skips such a filing without a request. A line is `ACCESSION<TAB>SELECTION<TAB>TIME<TAB>FILES`,
// where FILES is the number of selected files. To make the next run ask the service again, users delete the line of a
// filing.
// A line with 0 as FILES takes a lost filing from the list (ARCHITECTURE.md, "Why it is like this").
import { createHash } from 'node:crypto';
import { AppendFile } from '../disk/append.ts';
import { readRegular } from '../disk/regular-file.ts';
import { readWholeLines } from '../input/lines.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { SelectedFiling } from './item.ts';
import { blameOption } from './option-errors.ts';

/** The SELECTION of a line: a digest of all that decides which files of a filing are downloaded, and where they go. */
export function hashSelection(...values: readonly (string | readonly unknown[])[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 16);
}

/** Does not match a line that a crash cut off, unless only digits of FILES are missing: they matter only if 0. */
const LINE = /^([0-9]{10}-[0-9]{2}-[0-9]{6})\t([0-9a-f]{16})\t[0-9T:.Z+-]+\t([0-9]+)$/;
/** A line that this program wrote has up to 66 bytes. Of a longer line, the rest is not kept in memory. */
const MAX_LINE_BYTES = 200;

export interface DoneListOptions {
  readonly path: string;
  /** From `hashSelection`. Lines with another selection are ignored. */
  readonly selection: string;
  readonly now: () => number;
  readonly readOnly: boolean;
  /** Whether all filings are in one directory. */
  readonly sharesDirectory: boolean;
  /** Looks at the disk. Returns why the files of a filing cannot exist, such as `mirror has no files`. */
  readonly findLoss: (accession: AccessionNumber) => string | undefined;
  readonly warn: (message: string) => void;
}

export class DoneList {
  readonly #options: DoneListOptions;
  readonly #filings = new Set<AccessionNumber>();
  #file: AppendFile | undefined;
  #forgetting: Promise<void> = Promise.resolve();
  #hasLoss = false;

  private constructor(options: DoneListOptions) {
    this.#options = options;
  }

  static async open(options: DoneListOptions, signal: AbortSignal): Promise<DoneList> {
    const list = new DoneList(options);
    try {
      await blameOption('--done', async () => {
        if (!options.readOnly) list.#file = await AppendFile.open(options.path);
        await list.#read(signal);
      });
      return list;
    } catch (error) {
      await list.close();
      throw error;
    }
  }

  has(accession: AccessionNumber): boolean {
    if (!this.#filings.has(accession)) return false;
    const { findLoss, warn } = this.#options;
    const loss = findLoss(accession);
    if (loss === undefined) return true;
    if (!this.#hasLoss)
      warn(`${loss}, although --done has ${accession}: it is downloaded again (is a disk not mounted?)`);
    this.#hasLoss = true;
    return false;
  }

  /** Call this before a filing is downloaded. If it is in the list, all files of its directory are lost. */
  forget(accession: AccessionNumber): Promise<void> {
    if (!this.#filings.has(accession)) return this.#forgetting;
    const lost = this.#options.sharesDirectory ? [...this.#filings] : [accession];
    for (const filing of lost) this.#filings.delete(filing);
    this.#forgetting = this.add(lost.map((filing) => ({ accession: filing, selectedCount: 0 }))).then(() =>
      blameOption('--done', async () => this.#file?.flush()),
    );
    return this.#forgetting;
  }

  /** Does not change what `has` returns. */
  async add(filings: readonly Pick<SelectedFiling, 'accession' | 'selectedCount'>[]): Promise<void> {
    const { selection, now } = this.#options;
    const time = new Date(now()).toISOString().replace(/\.\d+/, '');
    const lines = filings.map(
      ({ accession, selectedCount }) => `${accession}\t${selection}\t${time}\t${selectedCount}\n`,
    );
    await blameOption('--done', async () => this.#file?.write(lines.map((line) => Buffer.from(line))));
  }

  async close(): Promise<void> {
    await this.#file?.end();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { path, selection } = this.#options;
    // The second `path` is the one that errors show. `readRegular` treats a missing file, as in a dry run, as empty.
    for await (const bytes of readWholeLines(readRegular(path, path), MAX_LINE_BYTES)) {
      signal.throwIfAborted();
      // Latin-1 is enough, because all lines that match are ASCII.
      for (const line of bytes.toString('latin1').split('\n')) {
        const [, slice, lineSelection, files] = LINE.exec(line) ?? [];
        // Whatever the selection was, its files are lost, too.
        const isLost = Number(files) === 0;
        if (slice === undefined || (lineSelection !== selection && !isLost)) continue;
        // The slice would keep the whole chunk in memory. The detour through a Buffer copies it.
        const accession = Buffer.from(slice).toString() as AccessionNumber;
        if (isLost) this.#filings.delete(accession);
        else this.#filings.add(accession);
      }
    }
  }
}
