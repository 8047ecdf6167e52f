import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BY_POOL } from '../disk/calls.ts';
import { withDiskFailure } from '../disk/failure.ts';
import { WrittenFile } from '../disk/written-file.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import type { Sink } from './job.ts';

interface SpoolOptions {
  readonly folder: string;
  readonly openWriter: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly signal: AbortSignal;
}

/** A temporary file without a name, so that not even a kill leaves it behind: `--spool`. */
export class Spool implements Sink {
  readonly restartable = true;
  readonly #file: WrittenFile;
  readonly #options: SpoolOptions;

  private constructor(file: WrittenFile, options: SpoolOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** Throws `local_io`. */
  static async open(options: SpoolOptions): Promise<Spool> {
    return withDiskFailure(options.folder, async () => {
      const own = await mkdtemp(join(options.folder, 'filings-'));
      try {
        return new Spool(new WrittenFile(await BY_POOL.create(join(own, 'spool'), 0o600), BY_POOL), options);
      } finally {
        await rm(own, { recursive: true });
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
  }
}
