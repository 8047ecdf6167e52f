import type { FileHandle } from 'node:fs/promises';
import { appendWhole } from './whole-lines.ts';

/** Appends lines to a file of which other processes' lines are kept whole, too: see {@link appendWhole}. */
export class Appender {
  readonly #handle: FileHandle;
  #before: Promise<unknown> = Promise.resolve();

  /** @param handle open to be read, and to be appended to with O_APPEND */
  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Appends a line, which ends in its line feed. Throws what the system says: some of it may stand there, and does no harm. */
  append(line: Buffer): Promise<void> {
    // One after the other: a torn line of our own has to be seen by the next.
    const appending = this.#before.then(() => appendWhole(this.#handle.fd, line));
    this.#before = appending.catch(() => {});
    return appending;
  }

  /** After what is being appended. */
  async close(): Promise<void> {
    await this.#before;
    await this.#handle.close();
  }
}
