// Adds to the SHA256SUMS of each directory that a run writes to (`--checksums`). Several runs may share such a file, so
// nothing in it is ever removed or moved. There are only two kinds of changes: one write appends a line, and one byte
// in place (`#`) makes an outdated or incomplete line a comment.
import { closeSync, constants, fstatSync, fsync, openSync, readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { OPEN_TO_FLUSH } from '../disk/calls.ts';
import { mapWriteErrors } from '../disk/failure.ts';
import { flushDirectory } from '../disk/make-directories.ts';
import { openRegular } from '../disk/regular-file.ts';
import { formatSumsLine, parseSumsLine, readSums, SUMS_NAME, type SumsEntry } from './format.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
const append = promisify(write);
const flushFile = promisify(fsync);
/** Bounds the memory. A SHA256SUMS that was forgotten is read again when it is needed. */
const MAX_REMEMBERED = 256;
/** Longer than any line that this program writes. But the zeros that a power cut may leave can be a longer last line. */
const TAIL_BYTES = 4096;
const LINE_FEED = 0x0a;

/** The SHA256SUMS of all directories of a run. `directory` is an absolute path. All methods throw `local_io`. */
export class ChecksumFiles {
  /** The entries by directory. */
  readonly #remembered = new Map<string, Promise<Map<string, SumsEntry>>>();
  /**
   * The directories whose SHA256SUMS may have lines that are not on the disk yet. Other runs may have written these.
   */
  readonly #unflushed = new Set<string>();
  /** Stays rejected after a failure: the kernel reports lost bytes only once, so another flush would succeed. */
  #flushing: Promise<void> = Promise.resolve();
  #lastWrite: Promise<unknown> = Promise.resolve();

  async isListed(directory: string, name: string): Promise<boolean> {
    const isListed = (await this.#entriesIn(directory)).has(name);
    if (isListed) this.#unflushed.add(directory);
    return isListed;
  }

  /** `sha256` is in lower-case hexadecimal digits. */
  async add(directory: string, name: string, sha256: string): Promise<void> {
    const path = toSumsPath(directory);
    await this.#inTurn(path, async () => {
      const { fd } = openRegular(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW);
      await appendLine(fd, path, formatSumsLine(name, sha256)).finally(() => closeSync(fd));
    });
    this.#unflushed.add(directory);
    // Nobody needs the offset of this line: a run writes each file once, so it never comments out its own lines.
    (await this.#remembered.get(directory))?.set(name, { sha256, offsets: [] });
  }

  /**
   * Call this before a file is replaced. Unless the new bytes have the hash that is listed, turns the lines of the file
   * into comments. Otherwise a kill between the replacement and the new line would leave the old hash for the new file.
   */
  async commentOutStaleLines(directory: string, name: string, sha256: string): Promise<void> {
    const entries = await this.#entriesIn(directory);
    const entry = entries.get(name);
    if (!entry || entry.sha256 === sha256) return;
    const path = toSumsPath(directory);
    await this.#inTurn(path, async () => {
      for (const offset of entry.offsets) commentOutLine(path, offset, (line) => parseSumsLine(line)?.name === name);
    });
    entries.delete(name);
    this.#unflushed.add(directory);
    await this.flush();
  }

  /** Does one piece of work at a time. Otherwise one could take the unfinished line of another for a torn one. */
  #inTurn(path: string, work: () => Promise<void>): Promise<void> {
    const working = this.#lastWrite.then(() => mapWriteErrors(path, work));
    this.#lastWrite = working.catch(() => {});
    return working;
  }

  /** Flushes all lines that `isListed` or `add` has relied on since the last flush. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(async () => {
      const directories = [...this.#unflushed];
      this.#unflushed.clear();
      for (const directory of directories) await flushSums(directory);
    });
    return this.#flushing;
  }

  #entriesIn(directory: string): Promise<Map<string, SumsEntry>> {
    const known = this.#remembered.get(directory);
    if (known) return known;
    const [oldest = ''] = this.#remembered.keys();
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(oldest);
    const path = toSumsPath(directory);
    const reading = readSums(path, path).then(({ entries }) => entries);
    this.#remembered.set(directory, reading);
    return reading;
  }
}

function toSumsPath(directory: string): string {
  return `${directory}/${SUMS_NAME}`;
}

/** Returns where the bytes after the last line feed begin. Reads from the end, in ever larger pieces. */
function findLastLine(fd: number, size: number): number {
  for (let length = TAIL_BYTES; ; length *= 16) {
    const tail = Buffer.alloc(Math.min(size, length));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf(LINE_FEED) + 1;
    if (end > 0 || tail.length === size) return size - tail.length + end;
  }
}

/**
 * Appends a line by one write. First makes an incomplete last line a comment. After a partial write, the loop does the
 * same with the line that this call has just written.
 */
async function appendLine(fd: number, path: string, line: string): Promise<void> {
  for (;;) {
    const { size } = fstatSync(fd);
    const lastLine = findLastLine(fd, size);
    const endsMidLine = lastLine < size;
    if (endsMidLine) commentOutLine(path, lastLine, () => true);
    const bytes = Buffer.from(endsMidLine ? `\n${line}` : line);
    if ((await append(fd, bytes, 0, bytes.length, null)).bytesWritten === bytes.length) return;
  }
}

/**
 * Overwrites the first byte of a line with `#`, if it is still the expected line: another program may have rewritten
 * the file. Opens the file again, because a descriptor with O_APPEND always writes at the end.
 */
function commentOutLine(path: string, offset: number, isExpected: (line: string) => boolean): void {
  const fd = openSync(path, O_RDWR | O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(TAIL_BYTES);
    const [line = ''] = bytes.toString('utf8', 0, readSync(fd, bytes, 0, TAIL_BYTES, offset)).split(/\r?\n/, 1);
    if (isExpected(line)) writeSync(fd, '#', offset);
  } finally {
    closeSync(fd);
  }
}

async function flushSums(directory: string): Promise<void> {
  const path = toSumsPath(directory);
  await mapWriteErrors(path, async () => {
    const { fd } = openRegular(path, OPEN_TO_FLUSH | O_NOFOLLOW);
    await flushFile(fd).finally(() => closeSync(fd));
    await flushDirectory(directory);
  });
}
