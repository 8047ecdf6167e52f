// Appends lines to a file that other processes may append to at the same time: a report, a done list, SHA256SUMS.
// Handles the torn line that a kill, a full disk or a power cut leaves at the end.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { closeFile, readAt, statOf } from './calls.ts';
import { withDiskError } from './failure.ts';
import { openPlain } from './plain-file.ts';

const { O_APPEND, O_CREAT, O_RDWR } = constants;
const LINE_FEED = 0x0a;
/** The size of the end of a file that is searched for a torn line. No line of this program is longer. Bytes. */
const TAIL_BYTES = 4096;
const writeTo = promisify(write);

interface AppendOptions {
  /** More flags for open(2). */
  readonly flags?: number;
  /**
   * `end` adds a line break to a torn line, which a reader recognizes as torn. `remove` deletes a torn line, because a
   * reader could take it for a whole one.
   */
  readonly tornLine?: 'end' | 'remove';
}

/** A file of lines to which several processes may append: each line stays whole. */
export class AppendFile {
  readonly #path: string;
  readonly #fd: number;
  readonly #flags: number;
  readonly #removesTornLine: boolean;
  #lastWrite: Promise<unknown> = Promise.resolve();

  private constructor(path: string, fd: number, { flags = 0, tornLine }: AppendOptions) {
    this.#path = path;
    this.#fd = fd;
    this.#flags = flags;
    this.#removesTornLine = tornLine === 'remove';
  }

  /** Opens a regular file, which is created if it is missing. Throws `local_io`. */
  static async open(path: string, options: AppendOptions = {}): Promise<AppendFile> {
    const flags = O_RDWR | O_APPEND | O_CREAT | (options.flags ?? 0);
    const { fd } = await withDiskError(path, () => openPlain(path, flags));
    return new AppendFile(path, fd, options);
  }

  /**
   * Appends lines by one write, each with its line feed. Throws `local_io`; then some of the lines may be in the file,
   * and the last of these may be torn.
   */
  write(lines: readonly Buffer[]): Promise<void> {
    // Writes run one after the other, because the next one must see a line that this one has torn.
    const appending = this.#lastWrite.then(() => withDiskError(this.#path, () => this.#append(Buffer.concat(lines))));
    this.#lastWrite = appending.catch(() => {});
    return appending;
  }

  /** Closes the file after the last write. Throws `local_io`. */
  async end(): Promise<void> {
    await this.#lastWrite;
    await withDiskError(this.#path, () => closeFile(this.#fd));
  }

  async #append(lines: Buffer): Promise<void> {
    for (;;) {
      const { size } = await statOf(this.#fd);
      const isTorn = !(await this.#endsInLine(size));
      if (isTorn && this.#removesTornLine) {
        this.#removeTornLine(size);
        continue;
      }
      const text = isTorn ? Buffer.concat([Buffer.of(LINE_FEED), lines]) : lines;
      const { bytesWritten } = await writeTo(this.#fd, text, 0, text.length, null);
      if (bytesWritten === text.length) return;
      // The write has torn a line. If no torn line may stay, it is completed, otherwise all lines are written again.
      if (this.#removesTornLine) return this.#complete(text.subarray(bytesWritten));
    }
  }

  /** Writes the rest of a line. Removes the line if that fails, as on a full disk. */
  async #complete(rest: Buffer): Promise<void> {
    try {
      for (let unwritten = rest; unwritten.length > 0; ) {
        const { bytesWritten } = await writeTo(this.#fd, unwritten, 0, unwritten.length, null);
        unwritten = unwritten.subarray(bytesWritten);
      }
    } catch (error) {
      this.#removeTornLine((await statOf(this.#fd)).size);
      throw error;
    }
  }

  /** Returns false if a full disk, a kill or a power cut has torn the last line. */
  async #endsInLine(size: number): Promise<boolean> {
    const bytes = Math.min(size, this.#removesTornLine ? TAIL_BYTES : 1);
    const { buffer } = await readAt(this.#fd, Buffer.alloc(bytes), 0, bytes, size - bytes);
    return endOfWholeLines(buffer) === bytes;
  }

  /**
   * Truncates the file after its last whole line, or removes a piece of a very long line. Does nothing if the file does
   * not have `size` bytes any more, because another process has appended a line. All calls are synchronous, so that
   * this process appends nothing meanwhile and another process hardly can. A line that another process does append
   * meanwhile is removed as a whole, because the file is cut at a line feed that was there before.
   */
  #removeTornLine(size: number): void {
    // On Windows a descriptor for appending cannot truncate the file.
    const fd = openSync(this.#path, O_RDWR | this.#flags);
    try {
      const stats = fstatSync(fd);
      if (stats.ino !== fstatSync(this.#fd).ino) throw Object.assign(new Error('replaced'), { code: 'ESTALE' });
      if (stats.size !== size) return;
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(fd, tail, 0, tail.length, size - tail.length);
      ftruncateSync(fd, size - tail.length + endOfWholeLines(tail));
    } finally {
      closeSync(fd);
    }
  }
}

/**
 * Returns the offset of the end of the last whole line. A line with a NUL is not whole: after a power cut, bytes that
 * had not reached the disk are zeros, also before a line feed that had reached it.
 */
function endOfWholeLines(text: Buffer): number {
  const end = text.lastIndexOf(LINE_FEED) + 1;
  const begin = text.subarray(0, Math.max(0, end - 1)).lastIndexOf(LINE_FEED) + 1;
  return text.subarray(begin, end).includes(0) ? begin : end;
}
