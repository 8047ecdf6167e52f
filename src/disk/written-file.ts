import { fchmod, fdatasync, fstat, fsync, ftruncate, type Stats, writev, writevSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Disk } from './calls.ts';
import { behind } from './chunks.ts';
import { chunksOf } from './sha256.ts';

/** A flush is started in the background after every so many bytes: the disk works while the network does. */
const FLUSH_EVERY_BYTES = 128 << 20;
/** A copy of so many bytes is soon made; more may have to wait until the disk has room for it. */
const SMALL_BYTES = 64 << 10;

const writeChunks = promisify(writev);
const flushAll = promisify(fsync);
const flushData = promisify(fdatasync);
const truncateTo = promisify(ftruncate);
const statOf = promisify<number, Stats>(fstat);
const changeMode = promisify(fchmod);

/** An open file that is written front to back by one writer at a time, which it closes. Errors are the system's own. */
export class WrittenFile {
  readonly #fd: number;
  readonly #disk: Disk;
  #position: number;
  #flushed: number;
  #flushing: Promise<void> | undefined;
  /** A flush that failed is never tried again: the system reports what is lost only once. */
  #failure: { readonly error: unknown } | undefined;
  #closed = false;

  /** `position` is where the next bytes go: what an earlier run wrote is in front of it. */
  constructor(fd: number, disk: Disk, position = 0) {
    this.#fd = fd;
    this.#disk = disk;
    this.#position = position;
    this.#flushed = position;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#position;
  }

  /** Whether a flush in the background has failed: what was written may be lost. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Appends the chunks. */
  async write(chunks: readonly Buffer[]): Promise<void> {
    if (this.#failure) throw this.#failure.error;
    let rest = chunks;
    while (rest.length > 0) {
      const written = await this.#write(rest);
      this.#position += written;
      // It may stop short before it fails.
      rest = behind(rest, written);
    }
    if (this.#position - this.#flushed >= FLUSH_EVERY_BYTES) this.#flushInBackground();
  }

  async #write(chunks: readonly Buffer[]): Promise<number> {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    if (this.#disk.isLocal && bytes <= SMALL_BYTES) return writevSync(this.#fd, chunks, this.#position);
    return (await writeChunks(this.#fd, chunks, this.#position)).bytesWritten;
  }

  /** All that was written, front to back; each chunk's memory is used again for the next. */
  read(): AsyncGenerator<Buffer> {
    return chunksOf(this.#fd, this.#position);
  }

  stat(): Promise<Stats> {
    return statOf(this.#fd);
  }

  /** Starts anew with an empty file. */
  async restart(): Promise<void> {
    await this.#flushing;
    this.#position = 0;
    this.#flushed = 0;
    await truncateTo(this.#fd, 0);
  }

  async setMode(mode: number): Promise<void> {
    await changeMode(this.#fd, mode);
  }

  /** All bytes are on disk when this returns. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (this.#failure) throw this.#failure.error;
    await flushAll(this.#fd);
  }

  /** Closes once, after a flush in the background: the descriptor's number may be another file's then. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#flushing;
    await this.#disk.close(this.#fd);
  }

  #flushInBackground(): void {
    if (this.#flushing || this.#closed) return;
    const position = this.#position;
    this.#flushing = flushData(this.#fd)
      .then(
        () => {
          this.#flushed = position;
        },
        (error) => {
          this.#failure = { error };
        },
      )
      .finally(() => {
        this.#flushing = undefined;
      });
  }
}
