// Appends lines to a file that other processes may append to at the same time: a report, a done list.
import { constants, readSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { closeFile } from './calls.ts';
import { withDiskError } from './failure.ts';
import { openPlain } from './plain-file.ts';

const { O_APPEND, O_CREAT, O_RDWR } = constants;
const LINE_FEED = 0x0a;
const writeTo = promisify(write);

/** A file of lines to which several processes may append: each line stays whole. */
export class AppendFile {
  readonly #path: string;
  readonly #fd: number;
  /** Whether a kill, a full disk or a power cut has torn the last line. The next write begins with a line break. */
  #isTorn: boolean;
  #lastWrite: Promise<unknown> = Promise.resolve();

  private constructor(path: string, fd: number, isTorn: boolean) {
    this.#path = path;
    this.#fd = fd;
    this.#isTorn = isTorn;
  }

  /** Opens a regular file, which is created if it is missing. Throws `local_io`. */
  static open(path: string): Promise<AppendFile> {
    return withDiskError(path, async () => {
      const { fd, stats } = openPlain(path, O_RDWR | O_APPEND | O_CREAT);
      const last = Buffer.of(LINE_FEED);
      if (stats.size > 0) readSync(fd, last, 0, 1, stats.size - 1);
      return new AppendFile(path, fd, last[0] !== LINE_FEED);
    });
  }

  /**
   * Appends lines by one write, each with its line feed. Throws `local_io`; then some of the lines may be in the file,
   * and the last of these may be torn.
   */
  write(lines: readonly Buffer[]): Promise<void> {
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
      const text = this.#isTorn ? Buffer.concat([Buffer.of(LINE_FEED), lines]) : lines;
      const { bytesWritten } = await writeTo(this.#fd, text, 0, text.length, null);
      this.#isTorn = bytesWritten < text.length;
      if (!this.#isTorn) return;
    }
  }
}
