import { constants, write } from 'node:fs';
import { promisify } from 'node:util';
import { closeFile, readAt, statOf } from './calls.ts';
import { withDiskFailure } from './failure.ts';
import { openPlain } from './plain-file.ts';

const { O_APPEND, O_CREAT, O_RDWR } = constants;
const LINE_FEED = 0x0a;
const writeTo = promisify(write);

/** Other processes may append to it as well: each line of theirs and ours stays whole. */
export class AppendFile {
  readonly #path: string;
  readonly #fd: number;
  #before: Promise<unknown> = Promise.resolve();

  private constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  /** A plain file, made when it is missing, with further `flags`. Throws `local_io`. */
  static async open(path: string, flags = 0): Promise<AppendFile> {
    const { fd } = await withDiskFailure(path, () => openPlain(path, O_RDWR | O_APPEND | O_CREAT | flags));
    return new AppendFile(path, fd);
  }

  /**
   * By one write, each line with its line feed. Throws `local_io`: some may be there then, the last one torn, which
   * does no harm.
   */
  write(lines: readonly Buffer[]): Promise<void> {
    // A torn line of our own has to be seen by the next.
    const appending = this.#before.then(() => withDiskFailure(this.#path, () => this.#append(Buffer.concat(lines))));
    this.#before = appending.catch(() => {});
    return appending;
  }

  async end(): Promise<void> {
    await this.#before;
    await closeFile(this.#fd);
  }

  async #append(lines: Buffer): Promise<void> {
    let text = (await this.#endsInLine()) ? lines : afterTornLine(lines);
    // One write that took less than asked has torn a line: all of it again.
    while ((await writeTo(this.#fd, text, 0, text.length, null)).bytesWritten < text.length)
      text = afterTornLine(lines);
  }

  /** False behind a line that a full disk or a kill tore. */
  async #endsInLine(): Promise<boolean> {
    const { size } = await statOf(this.#fd);
    if (size === 0) return true;
    const { buffer } = await readAt(this.#fd, Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === LINE_FEED;
  }
}

function afterTornLine(lines: Buffer): Buffer {
  return Buffer.concat([Buffer.of(LINE_FEED), lines]);
}
