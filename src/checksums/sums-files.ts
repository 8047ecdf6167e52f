// The SHA256SUMS of each directory that `download --checksums` writes to. An entry says what a file should be, so it is
// appended before the file gets its final name. Whatever fails or dies after that, `verify` finds the file missing or
// changed. Several runs may write to one SHA256SUMS at the same time, so nothing in it is ever removed or moved. There
// are only two kinds of changes: a line is appended by a single write, and an outdated or incomplete line becomes a
// comment when its first byte is overwritten with `#`.
import { closeSync, constants, fstatSync, fsync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { OPEN_TO_FLUSH } from '../disk/calls.ts';
import { mapWriteErrors } from '../disk/failure.ts';
import { flushDirectory } from '../disk/make-directories.ts';
import { openRegular } from '../disk/regular-file.ts';
import { digestOf } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import { addToIndex, formatSumsLine, indexSums, parseSumsLine, SUMS_NAME, type SumsIndex } from './format.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
const flushFile = promisify(fsync);
/** How many SHA256SUMS files are remembered. One that was dropped is read again when it is needed. */
const MAX_REMEMBERED = 256;
/** How many bytes are read to see one line. Longer than any line that this program writes. */
const LINE_BUFFER_BYTES = 4096;
const LINE_FEED = 0x0a;

/** The SHA256SUMS of all directories of a run. `directory` is an absolute path. All methods throw `local_io`. */
export class ChecksumFiles {
  /** The indexes by directory. Lines that another run adds later are missing. */
  readonly #remembered = new Map<string, Promise<SumsIndex>>();
  /** The directories whose SHA256SUMS has lines that this run relies on and that may not be on the disk yet. */
  readonly #unflushed = new Set<string>();
  /**
   * Stays rejected after a failure: the kernel reports lost bytes only once, so a second flush would falsely succeed.
   */
  #flushing: Promise<void> = Promise.resolve();

  /** Returns whether an existing file has an entry. If so, its last entry counts, and the next `flush` covers it. */
  async isListed(directory: string, name: string): Promise<boolean> {
    const { last, older } = await this.#indexOf(directory);
    if (!last.has(digestOf(name))) return false;
    // Another run may have written the entry, and have died before it flushed it or retired the older ones.
    this.#unflushed.add(directory);
    if (older.size > 0) await this.retireOlderEntries(directory, name);
    return true;
  }

  /**
   * Says what a file should be, before it gets its final name: appends an entry, unless the last entry has the same
   * hash. An entry that takes the place of another hash is flushed at once: otherwise a power cut could leave the new
   * file with the old hash. `sha256` is in lower-case hexadecimal digits.
   */
  async announce(directory: string, name: string, sha256: string): Promise<void> {
    const index = await this.#indexOf(directory);
    const path = toSumsPath(directory);
    const last = index.last.get(digestOf(name));
    const hasOtherHash = await mapWriteErrors(path, async () => {
      const { fd } = openRegular(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW);
      try {
        const listed = last === undefined ? undefined : parseSumsLine(readLineAt(fd, last));
        // Another program may have rewritten the file since the index was made.
        const isListed = listed?.name === name;
        if (isListed && listed.sha256 === sha256) return false;
        addToIndex(index, name, appendLine(fd, path, formatSumsLine(name, sha256)));
        return isListed;
      } finally {
        closeSync(fd);
      }
    });
    this.#unflushed.add(directory);
    if (hasOtherHash) await this.flush();
  }

  /** Makes all entries of a file but the last one comments. Call it when the file has its final name. */
  async retireOlderEntries(directory: string, name: string): Promise<void> {
    const { older } = await this.#indexOf(directory);
    const offsets = older.get(digestOf(name));
    if (!offsets) return;
    older.delete(digestOf(name));
    // A power cut must not lose the last entry and keep the comments.
    if (this.#unflushed.has(directory)) await this.flush();
    const path = toSumsPath(directory);
    await mapWriteErrors(path, async () => {
      for (const offset of offsets) commentOutLine(path, offset, (line) => parseSumsLine(line)?.name === name);
    });
    this.#unflushed.add(directory);
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

  #indexOf(directory: string): Promise<SumsIndex> {
    const known = this.#remembered.get(directory);
    if (known) return known;
    const [oldest = ''] = this.#remembered.keys();
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(oldest);
    const path = toSumsPath(directory);
    // A failed read is remembered as well, so every later file of the directory fails with the same error.
    const reading = indexSums(path, path).catch((error) => {
      throw error instanceof FilingsError ? error.with({ isWriteFailure: true }) : error;
    });
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
    const tail = readAt(fd, Math.max(0, size - length), Math.min(size, length));
    const end = tail.lastIndexOf(LINE_FEED) + 1;
    if (end > 0 || tail.length === size) return size - tail.length + end;
  }
}

/**
 * Appends a line by one write, and returns its offset. Synchronous, so that two appends of this run never overlap. If
 * the file ends with a fragment, which has no line feed, the line begins with one. The fragment becomes a comment if the
 * line has come right behind it. If something else has come in between, another process was just writing that line.
 * After a partial write, the loop treats the partial line as a fragment. On a full disk, the write throws.
 */
function appendLine(fd: number, path: string, line: string): number {
  for (;;) {
    const { size } = fstatSync(fd);
    const fragment = findLastLine(fd, size);
    const hasFragment = fragment < size;
    const bytes = Buffer.from(hasFragment ? `\n${line}` : line);
    const written = writeSync(fd, bytes);
    const added = readAt(fd, size, fstatSync(fd).size - size);
    const position = added.lastIndexOf(bytes.subarray(0, written));
    if (hasFragment && position === 0) commentOutLine(path, fragment, () => true);
    if (written === bytes.length) return size + position + (hasFragment ? 1 : 0);
  }
}

/**
 * Overwrites the first byte of the line at `offset` with `#`. Does nothing unless `isExpected` accepts the line that is
 * there now, because another program may have rewritten the file. Opens the file again, because a descriptor with
 * O_APPEND writes only at the end (pwrite(2)).
 */
function commentOutLine(path: string, offset: number, isExpected: (line: string) => boolean): void {
  const { fd } = openRegular(path, O_RDWR | O_NOFOLLOW);
  try {
    if (isExpected(readLineAt(fd, offset))) writeSync(fd, '#', offset);
  } finally {
    closeSync(fd);
  }
}

function readLineAt(fd: number, offset: number): string {
  return /^[^\r\n]*/.exec(readAt(fd, offset, LINE_BUFFER_BYTES).toString())?.[0] ?? '';
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
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
