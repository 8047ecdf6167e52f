import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure } from '../../disk/failure.ts';
import { GatheredFile } from '../../disk/gathered-file.ts';
import type { ByteWriter } from '../../stdio/byte-writer.ts';
import { hashesTo } from '../checked.ts';
import type { Held, Validator } from '../resume.ts';
import type { Sink } from '../transfer.ts';

/** A temporary file without a name, so that not even a kill leaves it behind: `--spool`. */
export class Spool implements Sink {
  readonly restartable = true;
  readonly #file: GatheredFile;
  readonly #folder: string;
  readonly #expected: string | undefined;
  #validator: Validator | undefined;
  #total: number | undefined;

  private constructor(file: GatheredFile, folder: string, expected: string | undefined) {
    this.#file = file;
    this.#folder = folder;
    this.#expected = expected;
  }

  /**
   * Opens a spool below a folder for temporary files. `expected` is the SHA-256 that the file must have, where it is
   * known. Throws `local_io`.
   */
  static async open(folder: string, expected: string | undefined): Promise<Spool> {
    return guarded(folder, async () => {
      const own = await mkdtemp(join(folder, 'filings-'));
      try {
        return new Spool(GatheredFile.over(await open(join(own, 'spool'), 'wx+')), folder, expected);
      } finally {
        await rm(own, { recursive: true });
      }
    });
  }

  get held(): Held {
    return { bytes: this.#file.size, validator: this.#validator, total: this.#total };
  }

  async begin(validator: Validator | undefined, total: number | undefined): Promise<void> {
    if (this.#file.size > 0) await guarded(this.#folder, () => this.#file.restart());
    this.#validator = validator;
    this.#total = total;
  }

  append(total: number): void {
    this.#total = total;
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await guarded(this.#folder, () => this.#file.write(chunks));
  }

  proves(): Promise<boolean> {
    return guarded(this.#folder, () => hashesTo(this.#expected, this.#file.read()));
  }

  /** The SHA-256 of all that was spooled, in hexadecimal digits. */
  sha256(): Promise<string> {
    return guarded(this.#folder, async () => {
      const hash = createHash('sha256');
      for await (const chunk of this.#file.read()) hash.update(chunk);
      return hash.digest('hex');
    });
  }

  /** Writes all that was spooled. */
  async copyTo(writer: ByteWriter, signal: AbortSignal): Promise<void> {
    await guarded(this.#folder, async () => {
      for await (const chunk of this.#file.read()) await writer.write([chunk], signal);
    });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

async function guarded<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, folder);
  }
}
