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

/**
 * A file that one writer writes front to back, and closes. Errors are the system's own. After a failed write or flush
 * each later one fails with the same error: the kernel reports lost bytes only once, so another flush would succeed.
 */
export class OutputFile {
  readonly #fd: number;
  readonly #disk: Disk;
  #size: number;
  #flushed: number;
  #flushing: Promise<unknown> | undefined;
  #failure: unknown;
  #closed = false;
  readonly #onFailure: (error: unknown) => void;

  /** `size` is in bytes, which an earlier run wrote. `onFailure` hears of each failed write, flush and close. */
  constructor(fd: number, disk: Disk, size = 0, onFailure: (error: unknown) => void = () => {}) {
    this.#fd = fd;
    this.#disk = disk;
    this.#size = size;
    this.#flushed = size;
    this.#onFailure = onFailure;
  }

  get size(): number {
    return this.#size;
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    try {
      for (let rest = chunks; rest.length > 0; ) {
        const written = await this.#write(rest);
        this.#size += written;
        rest = behind(rest, written);
      }
    } catch (error) {
      throw this.#fail(error);
    }
    if (this.#size - this.#flushed >= FLUSH_EVERY_BYTES && !this.#flushing) this.#flushBy(flushData);
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

  /** Also throws the failure of an earlier write, or of a flush in the background. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (!this.#failure) await this.#flushBy(flushAll);
    if (this.#failure) throw this.#failure;
  }

  /** Waits for a flush that is under way: after the close, the descriptor's number may be another file's. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#flushing;
    await this.#disk.close(this.#fd).catch((error) => {
      throw this.#fail(error);
    });
  }

  /**
   * Closes a file whose bytes nobody needs. If a flush is under way, the bytes are cut off first, so that a slow disk
   * has nothing left to write. A file that has its final name is never cut: it gets that name after its last flush.
   */
  drop(): Promise<void> {
    if (this.#flushing && !this.#closed) {
      this.#flushing = Promise.all([this.#flushing, truncateTo(this.#fd, 0).catch(() => {})]);
    }
    return this.close();
  }

  /** Never rejects: its failure is that of the next write, flush or close. */
  #flushBy(flush: (fd: number) => Promise<void>): Promise<unknown> {
    const size = this.#size;
    this.#flushing = flush(this.#fd)
      .then(
        () => {
          this.#flushed = size;
        },
        (error) => this.#fail(error),
      )
      .finally(() => {
        this.#flushing = undefined;
      });
    return this.#flushing;
  }

  #fail(error: unknown): unknown {
    this.#failure ??= error;
    this.#onFailure(error);
    return this.#failure;
  }
}
