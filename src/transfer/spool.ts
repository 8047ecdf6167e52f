import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ASYNC_FS } from '../disk/calls.ts';
import { withDiskFailure } from '../disk/failure.ts';
import { OutputFile } from '../disk/written-file.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import type { Sink } from './job.ts';

export interface SpoolOptions {
  readonly folder: string;
  /** Windows removes no directory in which a file is open: there the temporary file has a name until it is closed. */
  readonly platform: string;
  readonly openWriter: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly signal: AbortSignal;
}

/** A temporary file without a name, so that not even a kill leaves it behind (except on Windows): `--spool`. */
export class Spool implements Sink {
  readonly restartable = true;
  readonly #file: OutputFile;
  readonly #options: SpoolOptions;
  /** Undefined once it is removed. */
  readonly #directory: string | undefined;

  private constructor(file: OutputFile, options: SpoolOptions, directory: string | undefined) {
    this.#file = file;
    this.#options = options;
    this.#directory = directory;
  }

  /** Throws `local_io`. */
  static async open(options: SpoolOptions): Promise<Spool> {
    return withDiskFailure(options.folder, async () => {
      const own = await mkdtemp(join(options.folder, 'filings-'));
      const isKept = options.platform === 'win32';
      try {
        const file = new OutputFile(await ASYNC_FS.create(join(own, 'spool'), 0o600), ASYNC_FS);
        return new Spool(file, options, isKept ? own : undefined);
      } finally {
        if (!isKept) await rm(own, { recursive: true });
      }
    });
  }

  get bytes(): number {
    return this.#file.size;
  }

  async begin(): Promise<void> {
    if (this.bytes > 0) await withDiskFailure(this.#options.folder, () => this.#file.restart());
  }

  write(chunks: readonly Buffer[]): Promise<void> {
    return withDiskFailure(this.#options.folder, () => this.#file.write(chunks));
  }

  /** Writes the first byte only when the disk has all bytes: what it has lost would be read back wrong. */
  async finish(): Promise<'committed'> {
    const { folder, openWriter, signal } = this.#options;
    await withDiskFailure(folder, () => this.#file.flush());
    const writer = await openWriter(signal);
    await withDiskFailure(folder, async () => {
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
