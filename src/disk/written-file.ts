import { fchmod, fdatasync, fsync, ftruncate, type Stats, writev, writevSync } from 'node:fs';
import { promisify } from 'node:util';
import { behind, type Disk, statOf } from './calls.ts';
import { blocksOf, sha256Of } from './sha256.ts';

/** A flush starts in the background: the disk works while the network does. */
const FLUSH_EVERY_BYTES = 128 << 20;
/** A larger copy may have to wait until the disk has room for it. */
const SMALL_BYTES = 64 << 10;

const writeChunks = promisify(writev);
const flushAll = promisify(fsync);
const flushData = promisify(fdatasync);
const truncateTo = promisify(ftruncate);
const changeMode = promisify(fchmod);

/** Written front to back by one writer at a time, which closes it. Errors are the system's own. */
export class WrittenFile {
  readonly #fd: number;
  readonly #disk: Disk;
  #size: number;
  #flushed: number;
  #flushing: Promise<void> | undefined;
  /** A failed flush is never tried again: the system reports what is lost only once. */
  #failure: unknown;
  #closed = false;

  /** `size`: bytes that an earlier run wrote. */
  constructor(fd: number, disk: Disk, size = 0) {
    this.#fd = fd;
    this.#disk = disk;
    this.#size = size;
    this.#flushed = size;
  }

  get size(): number {
    return this.#size;
  }

  /** What was written may be lost. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    for (let rest = chunks; rest.length > 0; ) {
      const written = await this.#write(rest);
      this.#size += written;
      rest = behind(rest, written);
    }
    if (this.#size - this.#flushed >= FLUSH_EVERY_BYTES) this.#flushInBackground();
  }

  async #write(chunks: readonly Buffer[]): Promise<number> {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    if (this.#disk.isLocal && bytes <= SMALL_BYTES) return writevSync(this.#fd, chunks, this.#size);
    return (await writeChunks(this.#fd, chunks, this.#size)).bytesWritten;
  }

  read(): AsyncGenerator<Buffer> {
    return blocksOf(this.#fd);
  }

  /** Throws the signal's reason, too. */
  sha256(signal: AbortSignal): Promise<string> {
    return sha256Of(this.#fd, this.#size, () => signal.throwIfAborted());
  }

  stat(): Promise<Stats> {
    return statOf(this.#fd);
  }

  async restart(): Promise<void> {
    await this.#flushing;
    this.#size = 0;
    this.#flushed = 0;
    await truncateTo(this.#fd, 0);
  }

  setMode(mode: number): Promise<void> {
    return changeMode(this.#fd, mode);
  }

  async flush(): Promise<void> {
    await this.#flushing;
    if (this.#failure) throw this.#failure;
    await flushAll(this.#fd);
  }

  /** After a flush in the background: the descriptor's number may be another file's then. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#flushing;
    await this.#disk.close(this.#fd);
  }

  #flushInBackground(): void {
    if (this.#flushing) return;
    const size = this.#size;
    this.#flushing = flushData(this.#fd)
      .then(() => {
        this.#flushed = size;
      })
      .catch((error) => {
        this.#failure = error;
      })
      .finally(() => {
        this.#flushing = undefined;
      });
  }
}
