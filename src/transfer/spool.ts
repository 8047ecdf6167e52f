// Writes a file to a temporary file first, so that a pipe gets no byte of a file that is incomplete or wrong
// (`--spool`).
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ASYNC_FS } from '../disk/calls.ts';
import { withDiskError } from '../disk/failure.ts';
import { OutputFile } from '../disk/output-file.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import type { Sink } from './job.ts';

export interface SpoolOptions {
  readonly directory: string;
  /**
   * Windows cannot remove a directory with an open file, so on Windows the temporary file has a name until the close.
   */
  readonly platform: string;
  readonly openWriter: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly signal: AbortSignal;
}

/** A temporary file without a name, so that even a kill leaves no file (except on Windows). */
export class Spool implements Sink {
  readonly isRestartable = true;
  readonly #file: OutputFile;
  readonly #options: SpoolOptions;
  /** The directory to remove at the end, on Windows alone. */
  readonly #directory: string | undefined;

  private constructor(file: OutputFile, options: SpoolOptions, directory: string | undefined) {
    this.#file = file;
    this.#options = options;
    this.#directory = directory;
  }

  /** Creates the temporary file. Throws `local_io`. */
  static async open(options: SpoolOptions): Promise<Spool> {
    return withDiskError(options.directory, async () => {
      const temporary = await mkdtemp(join(options.directory, 'filings-'));
      const isKept = options.platform === 'win32';
      try {
        const file = new OutputFile(await ASYNC_FS.create(join(temporary, 'spool'), 0o600), ASYNC_FS);
        return new Spool(file, options, isKept ? temporary : undefined);
      } finally {
        if (!isKept) await rm(temporary, { recursive: true });
      }
    });
  }

  get bytes(): number {
    return this.#file.size;
  }

  async begin(): Promise<void> {
    if (this.bytes > 0) await withDiskError(this.#options.directory, () => this.#file.restart());
  }

  write(chunks: readonly Buffer[]): Promise<void> {
    return withDiskError(this.#options.directory, () => this.#file.write(chunks));
  }

  /** Flushes before it writes the first byte, because bytes that the disk lost would be read back as other bytes. */
  async finish(): Promise<'committed'> {
    const { directory, openWriter, signal } = this.#options;
    await withDiskError(directory, () => this.#file.flush());
    const writer = await openWriter(signal);
    await withDiskError(directory, async () => {
      for await (const chunk of this.#file.read()) await writer.write([chunk], signal);
    });
    await writer.end();
    await this.abandon();
    return 'committed';
  }

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {});
    if (this.#directory !== undefined) await rm(this.#directory, { recursive: true }).catch(() => {});
  }
}
