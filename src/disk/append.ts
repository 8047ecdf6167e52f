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
 * Appends lines, each with its line feed, to a file that other processes append to as well; it is open to be read and,
 * with O_APPEND, to be written to. They stand as lines of their own then, by one write. It begins with a line feed behind a
 * line that a full disk or a kill tore; where that happened in the same moment, they are written once more.
 * Throws what the system says: some of them may stand there then, the last one torn.
 */
export async function appendWhole(fd: number, lines: Buffer): Promise<void> {
  const before = await sizeOf(fd);
  const text = (await endsInLine(fd, before)) ? lines : afterTornLine(lines);
  await writeWhole(fd, text);
  const now = await sizeOf(fd);
  const isAlone = now === before + text.length;
  // Another one wrote meanwhile, and may have torn its line in front of ours.
  if (!isAlone && !(await standsIn(fd, lines, before, now))) await writeWhole(fd, afterTornLine(lines));
}

/** Whether the last line of the first `size` bytes of an open file is ended. Throws what the system says. */
export async function endsInLine(fd: number, size: number): Promise<boolean> {
  if (size === 0) return true;
  const { bytesRead, buffer } = await readAt(fd, Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === LINE_FEED;
}

/** By one write. One that took less than asked has torn a line: all of it again, behind a line feed. */
async function writeWhole(fd: number, lines: Buffer): Promise<void> {
  for (let text = lines; ; text = afterTornLine(lines)) {
    const { bytesWritten } = await writeTo(fd, text, 0, text.length, null);
    if (bytesWritten === text.length) return;
  }
}

/** Whether lines stand as lines of their own between two places of a file; the first is the end of a line, or taken for none. */
async function standsIn(fd: number, lines: Buffer, from: number, to: number): Promise<boolean> {
  const start = from === 0 ? 0 : from - 1;
  const written = Buffer.alloc(Math.max(0, to - start));
  const { bytesRead } = await readAt(fd, written, 0, written.length, start);
  const region = written.subarray(0, bytesRead);
  for (let at = region.indexOf(lines); at >= 0; at = region.indexOf(lines, at + 1)) {
    if (at === 0 ? from === 0 : region[at - 1] === LINE_FEED) return true;
  }
  return false;
}

function afterTornLine(lines: Buffer): Buffer {
  return Buffer.concat([Buffer.of(LINE_FEED), lines]);
}

async function sizeOf(fd: number): Promise<number> {
  return (await statFd(fd)).size;
}
