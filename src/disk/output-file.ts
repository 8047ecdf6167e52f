// Writes the bytes of one download and flushes them. The first failure has to be remembered: the kernel reports lost
// bytes only once (EIO in fsync(2)). So after a failure, every later write and flush throws it again.
import { closeSync, fdatasync, ftruncate, writev, writevSync } from 'node:fs';
import { promisify } from 'node:util';
import { dropWritten, flushFile } from './calls.ts';

/** A flush starts in the background after this many new bytes, so that disk and network work at the same time. */
const FLUSH_EVERY_BYTES = 128 << 20;
/** A larger write may have to wait for the disk, so it runs in the thread pool. */
const MAX_SYNC_WRITE_BYTES = 64 << 10;

const writeChunks = promisify(writev);
/** Without the times of the file, which only the last flush writes. */
const flushData = promisify(fdatasync);
const truncateTo = promisify(ftruncate);

/** A file that one writer writes from front to back. All methods throw system errors. */
export class OutputFile {
  /** For system calls that neither write nor flush, such as fstat. */
  readonly fd: number;
  #size: number;
  #flushedSize: number;
  #runningFlush: Promise<unknown> | undefined;
  #failure: unknown;
  #isClosed = false;

  /** `size` is the number of bytes that an earlier run wrote and flushed, if its download is resumed. */
  constructor(fd: number, size = 0) {
    this.fd = fd;
    this.#size = size;
    this.#flushedSize = size;
  }

  get size(): number {
    return this.#size;
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    try {
      for (let rest = chunks; rest.length > 0; ) {
        const written = await this.#writeSome(rest);
        this.#size += written;
        rest = dropWritten(rest, written);
      }
    } catch (error) {
      throw this.#rememberFailure(error);
    }
    if (this.#size - this.#flushedSize >= FLUSH_EVERY_BYTES && !this.#runningFlush) this.#startFlush(flushData);
  }

  async #writeSome(chunks: readonly Buffer[]): Promise<number> {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    if (bytes <= MAX_SYNC_WRITE_BYTES) return writevSync(this.fd, chunks, this.#size);
    return (await writeChunks(this.fd, chunks, this.#size)).bytesWritten;
  }

  async flush(): Promise<void> {
    await this.#runningFlush;
    if (!this.#failure) await this.#startFlush(flushFile);
    if (this.#failure) throw this.#failure;
  }

  /** Waits for a running flush before it closes the file, because the system may reuse the descriptor at once. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#runningFlush;
    closeSync(this.fd);
  }

  /**
   * Closes a file that nobody needs. If a flush is running, the file is truncated first, so that a slow disk has
   * nothing left to write. That cannot empty a file with a final name: it got the name after its last flush, so no
   * flush is running.
   */
  discard(): Promise<void> {
    if (this.#runningFlush && !this.#isClosed) {
      // When the flush ends, it sets this field to undefined. But `close` is called before that, so it reads this
      // promise and waits for the truncation as well.
      this.#runningFlush = Promise.all([this.#runningFlush, truncateTo(this.fd, 0).catch(() => {})]);
    }
    return this.close();
  }

  /** The returned promise never rejects. Instead, the next write or flush throws the error. */
  #startFlush(flush: (fd: number) => Promise<void>): Promise<unknown> {
    const size = this.#size;
    this.#runningFlush = flush(this.fd)
      .then(
        () => {
          this.#flushedSize = size;
        },
        (error) => this.#rememberFailure(error),
      )
      .finally(() => {
        this.#runningFlush = undefined;
      });
    return this.#runningFlush;
  }

  /** Returns the first failure, which may be an earlier one than `error`. */
  #rememberFailure(error: unknown): unknown {
    this.#failure ??= error;
    return this.#failure;
  }
}
