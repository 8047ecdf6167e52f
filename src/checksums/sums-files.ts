// Keeps the SHA256SUMS of each directory that a run writes to (`--checksums`). A line is appended by one write, or made
// a comment by one byte in place. Nothing is ever removed or moved, so that several runs may share the file.
import { closeSync, constants, fstatSync, fsync, openSync, readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { OPEN_TO_FLUSH } from '../disk/calls.ts';
import { withDiskError } from '../disk/failure.ts';
import { flushDirectory } from '../disk/make-directories.ts';
import { openPlain } from '../disk/plain-file.ts';
import { parseSumsLine, readSums, SUMS_NAME, type SumsEntry, sumsLine } from './format.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
const append = promisify(write);
const flushFile = promisify(fsync);
const MAX_DIRECTORIES = 256;
/** No line of this program is longer, but a power cut may leave any number of zeros. Bytes. */
const TAIL_BYTES = 4096;
const LINE_FEED = 0x0a;

/** The SHA256SUMS of all directories of a run. Directories are absolute paths. All methods throw `local_io`. */
export class ChecksumFiles {
  readonly #listed = new Map<string, Promise<Map<string, SumsEntry>>>();
  /** Directories with lines that may not be on disk yet, of this run or of others. */
  readonly #unflushed = new Set<string>();
  /** Rejects permanently after one failure. The kernel reports a failure once, so another flush would succeed. */
  #flushing: Promise<void> = Promise.resolve();
  #lastWrite: Promise<unknown> = Promise.resolve();

  async isListed(directory: string, name: string): Promise<boolean> {
    const isListed = (await this.#listedIn(directory)).has(name);
    if (isListed) this.#unflushed.add(directory);
    return isListed;
  }

  /** `sha256` is in lower-case hexadecimal digits. */
  async add(directory: string, name: string, sha256: string): Promise<void> {
    const path = pathIn(directory);
    await this.#inTurn(path, async () => {
      const { fd } = openPlain(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW);
      await appendLine(fd, path, sumsLine(name, sha256)).finally(() => closeSync(fd));
    });
    this.#unflushed.add(directory);
    (await this.#listed.get(directory))?.set(name, { sha256, offsets: [] });
  }

  /**
   * Makes the lines of a file comments that is about to be replaced by other bytes. Otherwise a kill between the
   * replacement and the new line would leave the old hash for the new file.
   */
  async beforeReplace(directory: string, name: string, sha256: string): Promise<void> {
    const listed = await this.#listedIn(directory);
    const entry = listed.get(name);
    if (!entry || entry.sha256 === sha256) return;
    const path = pathIn(directory);
    await this.#inTurn(path, async () => {
      for (const offset of entry.offsets) makeComment(path, offset, (line) => parseSumsLine(line)?.name === name);
    });
    listed.delete(name);
    this.#unflushed.add(directory);
    await this.flush();
  }

  /** Does one write after the other, because a job must not find a line that another job has written only in part. */
  #inTurn(path: string, work: () => Promise<void>): Promise<void> {
    const working = this.#lastWrite.then(() => withDiskError(path, work));
    this.#lastWrite = working.catch(() => {});
    return working;
  }

  /** Flushes the lines of all files that count as listed. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(async () => {
      const directories = [...this.#unflushed];
      this.#unflushed.clear();
      for (const directory of directories) await flushSums(directory);
    });
    return this.#flushing;
  }

  #listedIn(directory: string): Promise<Map<string, SumsEntry>> {
    const known = this.#listed.get(directory);
    if (known) return known;
    const [oldest = ''] = this.#listed.keys();
    if (this.#listed.size >= MAX_DIRECTORIES) this.#listed.delete(oldest);
    const path = pathIn(directory);
    const reading = readSums(path, path).then(({ entries }) => entries);
    this.#listed.set(directory, reading);
    return reading;
  }
}

function pathIn(directory: string): string {
  return `${directory}/${SUMS_NAME}`;
}

/** Returns where the bytes after the last line feed begin. */
function findLastLine(fd: number, size: number): number {
  for (let length = TAIL_BYTES; ; length *= 16) {
    const tail = Buffer.alloc(Math.min(size, length));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf(LINE_FEED) + 1;
    if (end > 0 || tail.length === size) return size - tail.length + end;
  }
}

/** Appends a line by one write. A line that a full disk or a power cut has torn becomes a comment first. */
async function appendLine(fd: number, path: string, line: string): Promise<void> {
  for (;;) {
    const { size } = fstatSync(fd);
    const lastLine = findLastLine(fd, size);
    const isTorn = lastLine < size;
    if (isTorn) makeComment(path, lastLine, () => true);
    const bytes = Buffer.from(isTorn ? `\n${line}` : line);
    if ((await append(fd, bytes, 0, bytes.length, null)).bytesWritten === bytes.length) return;
  }
}

/**
 * Makes a line a comment, by its first byte, if it still is the expected one: another program may have written the file
 * anew. A descriptor for appending could not write there.
 */
function makeComment(path: string, offset: number, isExpected: (line: string) => boolean): void {
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
  const path = pathIn(directory);
  await withDiskError(path, async () => {
    const { fd } = openPlain(path, OPEN_TO_FLUSH | O_NOFOLLOW);
    await flushFile(fd).finally(() => closeSync(fd));
    await flushDirectory(directory);
  });
}
