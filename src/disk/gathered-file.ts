import type { Stats } from 'node:fs';
import type { OpenFile } from './calls/open-file.ts';
import { behind, forOneCall } from './chunks.ts';
import { bytesOf } from './hash/sha256.ts';

/** A flush is started in the background after every so many bytes: the disk works while the network does. */
const FLUSH_EVERY_BYTES = 128 << 20;

/** A file that is written front to back with large gathered writes. Errors are the system's own. */
export class GatheredFile {
  /** Told how many bytes are known to be on disk. */
  onFlushed: (bytes: number) => void = () => {};
  readonly #handle: OpenFile;
  #position: number;
  #flushed: number;
  #flushing: Promise<void> | undefined;
  #flushError: unknown;
  #closed = false;

  private constructor(handle: OpenFile, position: number) {
    this.#handle = handle;
    this.#position = position;
    this.#flushed = position;
  }

  /** Writes into a new file. */
  static over(handle: OpenFile): GatheredFile {
    return new GatheredFile(handle, 0);
  }

  /** Goes on with a file at `position`; what is behind that is cut off. */
  static async continue(handle: OpenFile, position: number): Promise<GatheredFile> {
    await handle.truncate(position).catch((error) => handle.close().then(() => Promise.reject(error)));
    return new GatheredFile(handle, position);
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#position;
  }

  /** The open file's number, for a thread that reads along. */
  get fd(): number {
    return this.#handle.fd;
  }

  stat(): Promise<Stats> {
    return this.#handle.stat();
  }

  /** Appends the chunks. A background flush that has failed since makes this fail. */
  async write(chunks: readonly Buffer[]): Promise<void> {
    if (this.#flushError) throw this.#flushError;
    let rest = chunks;
    while (rest.length > 0) {
      const { bytesWritten } = await this.#handle.writev(forOneCall(rest), this.#position);
      this.#position += bytesWritten;
      rest = behind(rest, bytesWritten);
    }
    if (this.#position - this.#flushed >= FLUSH_EVERY_BYTES) this.#flushSoon();
  }

  /** All that was written, front to back; each chunk's memory is used again for the next. */
  read(): AsyncGenerator<Buffer> {
    return bytesOf(this.#handle, this.#position);
  }

  /** Shows that its owner lives, at a time of the file system's own clock; what is not on disk is sent there in the background. */
  async touch(time: Date): Promise<void> {
    if (this.#closed) return;
    await this.#handle.utimes(time, time);
    if (this.#position > this.#flushed) this.#flushSoon();
  }

  /** Starts anew with an empty file. */
  async restart(): Promise<void> {
    await this.#flushing;
    // First, so that no flush of what is gone begins meanwhile.
    this.#position = 0;
    this.#flushed = 0;
    await this.#handle.truncate(0);
  }

  async setMode(mode: number): Promise<void> {
    await this.#handle.chmod(mode);
  }

  /** All bytes are on disk when this returns. A flush that failed is never tried again. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (this.#flushError) throw this.#flushError;
    await this.#handle.sync();
    this.#flushed = this.#position;
  }

  /** Closes once. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#flushing;
    await this.#handle.close();
  }

  #flushSoon(): void {
    if (this.#flushing || this.#closed) return;
    const upTo = this.#position;
    this.#flushing = this.#handle
      .datasync()
      .then(() => {
        this.#flushed = upTo;
        this.onFlushed(upTo);
      })
      .catch((error) => {
        this.#flushError = error;
      })
      .finally(() => {
        this.#flushing = undefined;
      });
  }
}
