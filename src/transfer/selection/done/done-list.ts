import type { FileHandle } from 'node:fs/promises';
import { Appender } from '../../../disk/appender.ts';
import { diskFailure, readFailure } from '../../../disk/failure.ts';
import type { AccessionNumber } from '../../../service/accession.ts';
import { LineSplitter } from '../input/line-splitter.ts';
import { doneLine, parseDoneLine } from './done-entry.ts';
import { type OwnFile, openToAppend, openToRead } from './own-file.ts';

/** A line of ours has 66 bytes. */
const LONGEST_LINE = 200;
const CHUNK = 1 << 18;

export interface DoneListOptions {
  /** See `selectionId`: entries of others are passed over. */
  readonly selection: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Nothing is made or written: for `--dry-run`. */
  readonly readOnly?: boolean;
}

/** `--done`: which filings are complete, from earlier runs and this one. */
export class DoneList {
  readonly #options: DoneListOptions;
  readonly #filings = new Set<AccessionNumber>();
  readonly #shown: string;
  #appender: Appender | undefined;

  private constructor(shown: string, options: DoneListOptions) {
    this.#shown = shown;
    this.#options = options;
  }

  /**
   * Opens and reads the list; a missing one is made. Throws `usage` for what is no plain file of
   * this user's, `local_io`, the signal's reason.
   */
  static async open(file: OwnFile, options: DoneListOptions, signal: AbortSignal): Promise<DoneList> {
    const list = new DoneList(file.shown, options);
    const handle = await (options.readOnly ? openToRead(file) : openToAppend(file));
    if (handle === undefined) return list;
    try {
      await list.#read(handle, signal);
    } catch (error) {
      await handle.close();
      signal.throwIfAborted();
      throw readFailure(error, file.shown);
    }
    if (options.readOnly) await handle.close();
    else list.#appender = new Appender(handle);
    return list;
  }

  /** How many filings of this selection it has. */
  get size(): number {
    return this.#filings.size;
  }

  has(accession: AccessionNumber): boolean {
    return this.#filings.has(accession);
  }

  /** Remembers a filing as complete. Throws `local_io`: then it does not count as done. */
  async add(accession: AccessionNumber, files: number): Promise<void> {
    const { selection, now } = this.#options;
    const line = Buffer.from(doneLine({ accession, selection, time: now(), files }));
    await this.#appender?.append(line).catch((error) => {
      throw diskFailure(error, this.#shown, 'choose another file');
    });
    this.#filings.add(accession);
  }

  async close(): Promise<void> {
    await this.#appender?.close();
  }

  async #read(handle: FileHandle, signal: AbortSignal): Promise<void> {
    const splitter = new LineSplitter(LONGEST_LINE);
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let position = 0; ; ) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, CHUNK, position);
      if (bytesRead === 0) break;
      for (const { bytes } of splitter.split(buffer.subarray(0, bytesRead))) this.#note(bytes);
      position += bytesRead;
    }
    this.#note(splitter.rest()?.bytes);
  }

  #note(line: Buffer | undefined): void {
    const entry = line && parseDoneLine(line.toString('latin1'));
    if (entry?.selection !== this.#options.selection) return;
    this.#filings.add(entry.accession);
  }
}
