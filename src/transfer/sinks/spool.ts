import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Disk } from '../../disk/calls.ts';
import { diskFailure } from '../../disk/failure.ts';
import { sha256OfBytes } from '../../disk/sha256.ts';
import { WrittenFile } from '../../disk/written-file.ts';
import type { ByteWriter } from '../../stdio/byte-writer.ts';
import { type Held, NO_VERSION, type Version } from '../resume.ts';
import type { Sink } from './sink.ts';

/** What a spool is for. */
interface Purpose {
  /** The folder for temporary files that it is made in. */
  readonly folder: string;
  /** Opens what all is written to once it has come. */
  readonly openWriter: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly signal: AbortSignal;
}

/** A temporary file without a name, so that not even a kill leaves it behind: `--spool`. */
export class Spool implements Sink {
  readonly restartable = true;
  readonly #file: WrittenFile;
  readonly #purpose: Purpose;
  #version = NO_VERSION;

  private constructor(file: WrittenFile, purpose: Purpose) {
    this.#file = file;
    this.#purpose = purpose;
  }

  /** Throws `local_io`. */
  static async open(purpose: Purpose): Promise<Spool> {
    return guarded(purpose.folder, async () => {
      const own = await mkdtemp(join(purpose.folder, 'filings-'));
      const disk = new Disk(false);
      try {
        return new Spool(new WrittenFile(await disk.create(join(own, 'spool'), 0o600), disk), purpose);
      } finally {
        await rm(own, { recursive: true });
      }
    });
  }

  get held(): Held {
    return { bytes: this.#file.size, ...this.#version };
  }

  async begin(version: Version): Promise<void> {
    if (this.#file.size > 0) await guarded(this.#purpose.folder, () => this.#file.restart());
    this.#version = version;
  }

  append(total: number): void {
    this.#version = { ...this.#version, total };
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await guarded(this.#purpose.folder, () => this.#file.write(chunks));
  }

  sha256(): Promise<string> {
    const { folder, signal } = this.#purpose;
    return sha256OfBytes(this.#file.read(), folder, signal);
  }

  /** Only now is the first byte written. */
  async finish(): Promise<'placed'> {
    const { folder, openWriter, signal } = this.#purpose;
    const writer = await openWriter(signal);
    await guarded(folder, async () => {
      for await (const chunk of this.#file.read()) await writer.write([chunk], signal);
    });
    await writer.end();
    await this.#close();
    return 'placed';
  }

  async abandon(): Promise<number> {
    await this.#close();
    return 0;
  }

  async #close(): Promise<void> {
    await this.#file.close().catch(() => {});
  }
}

async function guarded<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, folder);
  }
}
