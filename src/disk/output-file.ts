// Writes the bytes of one file, and remembers the first failed write or flush.
import { closeSync, fdatasync, fsync, ftruncate, writev, writevSync } from 'node:fs';
import { promisify } from 'node:util';
import { unwrittenAfter } from './calls.ts';
import { sha256Of } from './sha256.ts';

/** The number of bytes after which a flush starts in the background, so that the disk works while the network does. */
const FLUSH_EVERY_BYTES = 128 << 20;
/** The largest write that is made synchronously. A larger one may have to wait for the disk. Bytes. */
const MAX_SYNC_WRITE_BYTES = 64 << 10;

const writeChunks = promisify(writev);
const flushAll = promisify(fsync);
const flushData = promisify(fdatasync);
const truncateTo = promisify(ftruncate);

/**
 * A file that one writer writes front to back, and closes. Errors are the system's own. After a failed write or flush
 * each later one fails with the same error: the kernel reports lost bytes only once, so another flush would succeed.
 */
export class OutputFile {
  readonly fd: number;
  #size: number;
  #flushed: number;
  #flushing: Promise<unknown> | undefined;
  #failure: unknown;
  #closed = false;

  /** `size` is the number of bytes that an earlier run wrote and flushed. */
  constructor(fd: number, size = 0) {
    this.fd = fd;
    this.#size = size;
    this.#flushed = size;
  }

  /** The number of bytes. */
  get size(): number {
    return this.#size;
  }

  /** Appends bytes. */
  async write(chunks: readonly Buffer[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    try {
      for (let rest = chunks; rest.length > 0; ) {
        const written = await this.#write(rest);
        this.#size += written;
        rest = unwrittenAfter(rest, written);
      }
    } catch (error) {
      throw this.#fail(error);
    }
    if (this.#size - this.#flushed >= FLUSH_EVERY_BYTES && !this.#flushing) this.#startFlush(flushData);
  }

  async #write(chunks: readonly Buffer[]): Promise<number> {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    if (bytes <= MAX_SYNC_WRITE_BYTES) return writevSync(this.fd, chunks, this.#size);
    return (await writeChunks(this.fd, chunks, this.#size)).bytesWritten;
  }

  /** Returns the SHA-256 in lower-case hexadecimal digits. Also throws the signal's reason. */
  sha256(signal: AbortSignal): Promise<string> {
    return sha256Of(this.fd, this.#size, signal);
  }

  /** Removes all bytes. */
  async restart(): Promise<void> {
    await this.#flushing;
    this.#size = 0;
    this.#flushed = 0;
    await truncateTo(this.fd, 0);
  }

  /** Flushes all bytes. Also throws the error of an earlier write, or of a flush in the background. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (!this.#failure) await this.#startFlush(flushAll);
    if (this.#failure) throw this.#failure;
  }

  /** Closes the file. Waits for a running flush, because after the close the descriptor may be another file's. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#flushing;
    closeSync(this.fd);
  }

  /**
   * Closes a file whose bytes are not needed. During a flush the file is truncated first, so that a slow disk has
   * nothing left to write. A file with its final name is never truncated, because its last flush was before it got the
   * name.
   */
  discard(): Promise<void> {
    if (this.#flushing && !this.#closed) {
      this.#flushing = Promise.all([this.#flushing, truncateTo(this.fd, 0).catch(() => {})]);
    }
    return this.close();
  }

  /** Never rejects. The next write or flush throws its error. */
  #startFlush(flush: (fd: number) => Promise<void>): Promise<unknown> {
    const size = this.#size;
    this.#flushing = flush(this.fd)
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
    return this.#failure;
  }
}
