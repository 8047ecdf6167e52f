import type { FileHandle } from 'node:fs/promises';
import { diskFailure } from '../../../disk/failure.ts';
import { isTorn } from '../../../disk/torn-line.ts';

/**
 * Appends lines to a file that other processes append to as well, each by one write to a handle
 * opened with O_APPEND. Behind a torn line, of a full disk or a kill, it begins with a line break.
 */
export class Appender {
  readonly #handle: FileHandle;
  readonly #shown: string;
  #before: Promise<unknown> = Promise.resolve();

  /** @param shown how errors call the file */
  constructor(handle: FileHandle, shown: string) {
    this.#handle = handle;
    this.#shown = shown;
  }

  /** Appends a line, which ends in its line feed. Throws `local_io`: some of it may stand there, and does no harm. */
  append(line: string): Promise<void> {
    // One after the other: a torn line of our own has to be seen by the next.
    const appending = this.#before.then(() => this.#write(line));
    this.#before = appending.catch(() => {});
    return appending;
  }

  /** After what is being appended. */
  async close(): Promise<void> {
    await this.#before;
    await this.#handle.close();
  }

  async #write(line: string): Promise<void> {
    try {
      let rest = Buffer.from((await isTorn(this.#handle.fd)) ? `\n${line}` : line);
      // A disk that fills takes less than asked; another try says why, or goes on.
      while (rest.length > 0) {
        const { bytesWritten } = await this.#handle.write(rest);
        rest = rest.subarray(bytesWritten);
      }
    } catch (error) {
      throw diskFailure(error, this.#shown, 'choose another file');
    }
  }
}
