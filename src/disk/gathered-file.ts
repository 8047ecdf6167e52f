import { close, constants, fchmod, fdatasync, fsync, ftruncate, open, read, writev } from 'node:fs';
import { promisify } from 'node:util';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
const openAt = promisify(open);
const closeFd = promisify(close);
const flush = promisify(fsync);
const flushData = promisify(fdatasync);
const cut = promisify(ftruncate);
const chmodAt = promisify(fchmod);
const readAt = promisify(read);

/** A flush is started in the background after every so many bytes: the disk works while the network does. */
const FLUSH_EVERY_BYTES = 128 << 20;
/** The kernel takes no more buffers in one call (IOV_MAX). */
const MOST_BUFFERS = 1024;
const READ_BYTES = 1 << 20;

/** A file that is written front to back with large gathered writes. Errors are the system's own. */
export class GatheredFile {
  readonly #fd: number;
  #position: number;
  #flushed: number;
  #flushing: Promise<void> | undefined;
  #flushError: unknown;
  #closed = false;
  readonly #onFlushed: (bytes: number) => void;

  private constructor(fd: number, position: number, onFlushed: (bytes: number) => void) {
    this.#fd = fd;
    this.#position = position;
    this.#flushed = position;
    this.#onFlushed = onFlushed;
  }

  /** Makes a file that must not be there yet. `onFlushed` is told how many bytes are known to be on disk. */
  static async create(path: string, onFlushed: (bytes: number) => void): Promise<GatheredFile> {
    return new GatheredFile(await openAt(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666), 0, onFlushed);
  }

  /** Opens a file to go on at `position`; what is behind that is cut off. */
  static async continue(path: string, position: number, onFlushed: (bytes: number) => void): Promise<GatheredFile> {
    const fd = await openAt(path, O_RDWR | O_NOFOLLOW);
    await cut(fd, position).catch((error) => closeFd(fd).then(() => Promise.reject(error)));
    return new GatheredFile(fd, position, onFlushed);
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#position;
  }

  /** Appends the chunks. A background flush that has failed since makes this fail. */
  async write(chunks: readonly Buffer[]): Promise<void> {
    if (this.#flushError) throw this.#flushError;
    let rest = chunks;
    while (rest.length > 0) {
      const written = await this.#writev(rest.slice(0, MOST_BUFFERS));
      this.#position += written;
      rest = behind(rest, written);
    }
    this.#flushSoon();
  }

  /** All that was written, front to back; each chunk's memory is used again for the next. */
  async *read(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let position = 0; position < this.#position; ) {
      const { bytesRead } = await readAt(this.#fd, buffer, 0, READ_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Starts anew with an empty file. */
  async restart(): Promise<void> {
    await this.#flushing;
    await cut(this.#fd, 0);
    this.#position = 0;
    this.#flushed = 0;
  }

  async setMode(mode: number): Promise<void> {
    await chmodAt(this.#fd, mode);
  }

  /** All bytes are on disk when this returns. A flush that failed is never tried again. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (this.#flushError) throw this.#flushError;
    await flush(this.#fd);
    this.#flushed = this.#position;
  }

  /** Closes once: a second close of the same number could hit another file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#flushing;
    await closeFd(this.#fd);
  }

  #writev(chunks: readonly Buffer[]): Promise<number> {
    return new Promise((resolve, reject) => {
      writev(this.#fd, chunks, this.#position, (error, written) => (error ? reject(error) : resolve(written)));
    });
  }

  #flushSoon(): void {
    if (this.#flushing || this.#position - this.#flushed < FLUSH_EVERY_BYTES) return;
    const upTo = this.#position;
    this.#flushing = flushData(this.#fd)
      .then(() => {
        this.#flushed = upTo;
        this.#onFlushed(upTo);
      })
      .catch((error) => {
        this.#flushError = error;
      })
      .finally(() => {
        this.#flushing = undefined;
      });
  }
}

/** What is left of the chunks behind the first `written` bytes: a write may stop short before it fails. */
export function behind(chunks: readonly Buffer[], written: number): readonly Buffer[] {
  let skipped = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (skipped + chunk.length > written) return [chunk.subarray(written - skipped), ...chunks.slice(index + 1)];
    skipped += chunk.length;
  }
  return [];
}
