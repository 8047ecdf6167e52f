import { fstat, read, write } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

const LINE_FEED = 0x0a;
const statFd = promisify(fstat);
const readAt = promisify(read);
const writeTo = promisify(write);

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

/**
 * Appends lines, each with its line feed, by one write, to a file that other processes append to as well; it is open to be
 * read and, with O_APPEND, to be written to. It begins with a line feed behind a line that a full disk or a kill tore.
 * Throws what the system says: some of them may stand there then, the last one torn.
 */
export async function appendWhole(fd: number, lines: Buffer): Promise<void> {
  let text = (await endsInLine(fd)) ? lines : afterTornLine(lines);
  // One write that took less than asked has torn a line: all of it again.
  while ((await writeTo(fd, text, 0, text.length, null)).bytesWritten < text.length) text = afterTornLine(lines);
}

async function endsInLine(fd: number): Promise<boolean> {
  const { size } = await statFd(fd);
  if (size === 0) return true;
  const { bytesRead, buffer } = await readAt(fd, Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === LINE_FEED;
}

function afterTornLine(lines: Buffer): Buffer {
  return Buffer.concat([Buffer.of(LINE_FEED), lines]);
}
