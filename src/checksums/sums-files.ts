// Adds to the SHA256SUMS of each directory that `download --checksums` writes to. Several runs may write to such a file
// at the same time, so nothing in it is ever removed or moved. There are only two kinds of changes: a line is appended
// by a single write, or an outdated or incomplete line is made a comment by overwriting its first byte with `#`. The
// recorder of a batch calls `flush` before it adds filings to the done list (`--done`): later runs skip those filings.
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
/** How many SHA256SUMS files are kept in memory. One that was dropped is read again when it is needed. */
const MAX_REMEMBERED = 256;
/** How many bytes are read to see one line. Longer than any line that this program writes. */
const LINE_BUFFER_BYTES = 4096;
const LINE_FEED = 0x0a;

/** The SHA256SUMS of all directories of a run. `directory` is an absolute path. All methods throw `local_io`. */
export class ChecksumFiles {
  /** Maps a directory to the entries of its SHA256SUMS by file name. Lines that another run adds later are missing. */
  readonly #remembered = new Map<string, Promise<Map<string, SumsEntry>>>();
  /** The directories whose SHA256SUMS has lines that this run relies on and that may not be on the disk yet. */
  readonly #unflushed = new Set<string>();
  /**
   * Stays rejected after a failure: the kernel reports lost bytes only once, so a second flush would falsely succeed.
   */
  #flushing: Promise<void> = Promise.resolve();
  #lastWrite: Promise<unknown> = Promise.resolve();

  /** Returns whether a file has a line. If so, the caller adds none, and the next `flush` covers the existing one. */
  async isListed(directory: string, name: string): Promise<boolean> {
    const hasLine = (await this.#entriesIn(directory)).has(name);
    // Another run may have written the line and not have flushed it yet.
    if (hasLine) this.#unflushed.add(directory);
    return hasLine;
  }

  /** Appends a line. `sha256` is in lower-case hexadecimal digits. */
  async add(directory: string, name: string, sha256: string): Promise<void> {
    const path = toSumsPath(directory);
    await this.#inTurn(path, async () => {
      const { fd } = openRegular(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW);
      await appendLine(fd, path, formatSumsLine(name, sha256)).finally(() => closeSync(fd));
    });
    this.#unflushed.add(directory);
    // Offsets are needed only to comment out the lines of a downloaded file before it is replaced. This run does not
    // replace this file again, because it writes each file only once.
    (await this.#remembered.get(directory))?.set(name, { sha256, offsets: [] });
  }

  /**
   * Call this before a file is replaced, with the hash of the new bytes. If another hash is listed, turns the lines for
   * this file into comments and flushes them. Without this call, if the run were killed after the replacement and
   * before `add`, the new file would be listed with the old hash.
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

  /**
   * Runs `work` after all earlier work of this run. Otherwise one append could find a line that another one is still
   * writing, and comment it out as incomplete.
   */
  #inTurn(path: string, work: () => Promise<void>): Promise<void> {
    const working = this.#lastWrite.then(() => mapWriteErrors(path, work));
    // The caller gets the error. The next work runs nevertheless.
    this.#lastWrite = working.catch(() => {});
    return working;
  }

  /** Flushes each SHA256SUMS that was changed, or in which `isListed` found a name, since the last flush. */
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
    // A failed read is remembered as well, so every later file of the directory fails with the same error.
    const reading = readSums(path, path).then(({ entries }) => entries);
    this.#remembered.set(directory, reading);
    return reading;
  }
}

function toSumsPath(directory: string): string {
  return `${directory}/${SUMS_NAME}`;
}

/**
 * Returns where the bytes after the last line feed begin, or `size` if the file ends with a line feed. Reads ever more
 * of the end, because a power cut may have left a long run of zeros there.
 */
function findLastLine(fd: number, size: number): number {
  for (let length = LINE_BUFFER_BYTES; ; length *= 16) {
    const tail = Buffer.alloc(Math.min(size, length));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf(LINE_FEED) + 1;
    if (end > 0 || tail.length === size) return size - tail.length + end;
  }
}

/**
 * Appends a line by one write. If the file ends with an incomplete line, makes that line a comment first. After a
 * partial write, the loop makes the partial line a comment and tries again. On a full disk, the write throws.
 */
async function appendLine(fd: number, path: string, line: string): Promise<void> {
  for (;;) {
    const { size } = fstatSync(fd);
    const lastLine = findLastLine(fd, size);
    const endsMidLine = lastLine < size;
    if (endsMidLine) commentOutLine(path, lastLine, () => true);
    // The line feed in front ends the incomplete line.
    const bytes = Buffer.from(endsMidLine ? `\n${line}` : line);
    if ((await append(fd, bytes, 0, bytes.length, null)).bytesWritten === bytes.length) return;
  }
}

/**
 * Overwrites the first byte of the line at `offset` with `#`. Does nothing unless `isExpected` accepts the line that is
 * there now, because another program may have rewritten the file. Opens the file again, because a descriptor with
 * O_APPEND always writes at the end.
 */
function commentOutLine(path: string, offset: number, isExpected: (line: string) => boolean): void {
  const fd = openSync(path, O_RDWR | O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(LINE_BUFFER_BYTES);
    const [line = ''] = bytes.toString('utf8', 0, readSync(fd, bytes, 0, LINE_BUFFER_BYTES, offset)).split(/\r?\n/, 1);
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
    // The file may be new. Its name is on the disk only after its directory is flushed.
    await flushDirectory(directory);
  });
}
