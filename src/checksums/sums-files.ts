// The SHA256SUMS of each directory that `download --checksums` writes to. An entry says what a file should be, so it is
// appended before the file gets its final name. It may be ahead of its file, but never behind it: whatever fails or dies
// after that, `verify` finds the file missing or changed. docs/guarantees.md has a table of the states in between.
//
// Several runs may write to one SHA256SUMS at the same time, so nothing in it is ever removed or moved. There are only
// two kinds of changes: a line is appended by a single write, and a line becomes a comment when its first byte is
// overwritten with `#`.
import { closeSync, constants, fstatSync, fsync, lstatSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { OPEN_TO_FLUSH } from '../disk/calls.ts';
import { mapWriteErrors } from '../disk/failure.ts';
import { flushDirectory } from '../disk/make-directories.ts';
import { openRegular, readRegular } from '../disk/regular-file.ts';
import { digestOf } from '../disk/sha256.ts';
import { SharedFlush } from '../disk/shared-flush.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import {
  addToIndex,
  formatSumsLine,
  parseSumsLine,
  SUMS_NAME,
  type SumsEntry,
  type SumsIndex,
  SumsParser,
} from './format.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
const TO_APPEND = O_RDWR | O_APPEND | O_NOFOLLOW;
const flushFile = promisify(fsync);
/** How many SHA256SUMS files are remembered. One that was dropped is read again when it is needed. */
const MAX_REMEMBERED = 256;
/** How many bytes are read to see one line. Longer than any line that this program writes. */
const LINE_BUFFER_BYTES = 4096;
const LINE_FEED = 0x0a;

/** The entry of a file that is about to get its final name. */
export interface Announcement {
  /** Call this when the file has its final name. Makes the entries before this one comments. */
  settle(): Promise<void>;
  /**
   * Call this if another file keeps the final name. Makes this entry a comment, unless an earlier run wrote it. Never
   * throws.
   */
  withdraw(): Promise<void>;
}

/** What this run knows of one SHA256SUMS. */
interface Sums {
  readonly path: string;
  readonly index: SumsIndex;
  readonly parser: SumsParser;
  /** The inode of the file that was read, or 0 if there was none. */
  inode: number;
  /** Whether this run has found that it may write to the file. */
  isWritable: boolean;
}

/** The SHA256SUMS of all directories of a run. `directory` is an absolute path. */
export class ChecksumFiles {
  readonly #remembered = new Map<string, Promise<Sums>>();
  /** Why a SHA256SUMS cannot be written. */
  readonly #failures = new Map<string, unknown>();
  /** The directories whose SHA256SUMS has lines that this run relies on and that may not be on the disk yet. */
  readonly #unflushed = new Set<string>();
  readonly #flush = new SharedFlush(async () => {
    const directories = [...this.#unflushed];
    this.#unflushed.clear();
    for (const directory of directories) await flushSums(directory);
  });

  /**
   * Call this before a file of the directory is requested. Throws `local_io` if its SHA256SUMS cannot be read and
   * written, and `integrity` if it has a line over 1 MiB, also at every later call.
   */
  async requireWritable(directory: string): Promise<void> {
    const sums = await this.#read(directory);
    if (this.#failures.has(directory)) throw this.#failures.get(directory);
    if (!sums.isWritable && sums.inode !== 0)
      await this.#change(directory, () => closeSync(openRegular(sums.path, TO_APPEND).fd));
    sums.isWritable = true;
  }

  /** Flushes each SHA256SUMS that was changed, or in which an entry was found, since the last flush. */
  flush(): Promise<void> {
    return this.#flush.run();
  }

  /**
   * Says what a file should be, before it gets its final name: appends an entry, unless the last entry has the same
   * hash. If there are other entries, all are flushed: a power cut must not leave the new file with an old hash alone.
   * `sha256` is in lower-case hexadecimal digits. Throws `local_io`.
   */
  async announce(directory: string, name: string, sha256: string): Promise<Announcement> {
    const sums = await this.#readAgainIfReplaced(directory);
    const { index, path } = sums;
    const key = digestOf(name);
    const offset = await this.#change(directory, () => appendUnlessLast(sums, { name, sha256 }));
    const hasAppended = offset !== undefined;
    const own = offset ?? index.last.get(key) ?? 0;
    const older = (index.older.get(key) ?? []).filter((other) => other < own);
    const commentOut = (offsets: readonly number[]) =>
      this.#change(directory, () => {
        for (const at of offsets) commentOutLine(path, at, (line) => parseSumsLine(line)?.name === name);
        removeFromIndex(index, key, offsets);
      });
    const announcement: Announcement = {
      settle: async () => (older.length > 0 ? commentOut(older) : undefined),
      // After a failure, `verify` reports the file as changed.
      withdraw: async () => (hasAppended ? commentOut([own]).catch(() => {}) : undefined),
    };
    try {
      if (older.length > 0) await this.flush();
      return announcement;
    } catch (error) {
      await announcement.withdraw();
      throw error;
    }
  }

  /**
   * Lists an existing file, unless it is listed. `known` is its hash, if its bytes are known to be right; otherwise
   * `hash` reads the file if there is not exactly one entry. If it is not what the last of several entries says, all of
   * them stay, so that `verify` reports the file. Returns the hash, if it was needed. Throws `local_io`.
   */
  async listExisting(
    directory: string,
    name: string,
    known: string | undefined,
    hash: () => Promise<string>,
  ): Promise<string | undefined> {
    const { index, path } = await this.#read(directory);
    const last = index.last.get(digestOf(name));
    // Another run may have written the entry, and have died before it flushed it.
    if (last !== undefined) this.#unflushed.add(directory);
    if (known === undefined && last !== undefined && !index.older.has(digestOf(name))) return undefined;
    const sha256 = known ?? (await hash());
    const isAsListed = last === undefined || readEntryAt(path, last)?.sha256 === sha256;
    if (known !== undefined || isAsListed) await (await this.announce(directory, name, sha256)).settle();
    return sha256;
  }

  async #readAgainIfReplaced(directory: string): Promise<Sums> {
    const { path, inode, parser } = await this.#read(directory);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const isReplaced = (stats?.ino ?? 0) !== inode || (stats?.size ?? 0) < parser.end;
    if (isReplaced) this.#remembered.delete(directory);
    return this.#read(directory);
  }

  #read(directory: string): Promise<Sums> {
    const known = this.#remembered.get(directory);
    if (known) return known;
    const [oldest = ''] = this.#remembered.keys();
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(oldest);
    const reading = readSumsFile(`${directory}/${SUMS_NAME}`).catch((error) => {
      throw asDirectoryFailure(error, directory);
    });
    this.#remembered.set(directory, reading);
    return reading;
  }

  /** Returns the result of `work`, which writes. After a failure, no further file of the directory is requested. */
  async #change<T>(directory: string, work: () => T): Promise<T> {
    try {
      const result = await mapWriteErrors(`${directory}/${SUMS_NAME}`, async () => work());
      this.#unflushed.add(directory);
      return result;
    } catch (error) {
      const failure = asDirectoryFailure(error, directory);
      this.#failures.set(directory, failure);
      throw failure;
    }
  }
}

function asDirectoryFailure(error: unknown, directory: string): unknown {
  return error instanceof FilingsError ? error.with({ failedDirectory: directory }) : error;
}

async function readSumsFile(path: string): Promise<Sums> {
  // Taken first: if the file is replaced now, its inode will differ from this one.
  const inode = lstatSync(path, { throwIfNoEntry: false })?.ino ?? 0;
  const index: SumsIndex = { last: new Map(), older: new Map() };
  const parser = new SumsParser(path);
  for await (const chunk of readRegular(path, path, O_NOFOLLOW)) addToIndex(index, parser.add(chunk));
  return { path, index, parser, inode, isWritable: false };
}

/**
 * Appends an entry, unless the last entry of its name has the same hash. Returns its offset if it was appended.
 * Synchronous, so that two appends of this run never overlap.
 */
function appendUnlessLast(sums: Sums, entry: SumsEntry): number | undefined {
  const { fd, stats } = openRegular(sums.path, TO_APPEND | O_CREAT);
  try {
    if (sums.inode === 0) sums.inode = stats.ino;
    readAppended(sums, fd);
    const last = sums.index.last.get(digestOf(entry.name));
    const listed = last === undefined ? undefined : parseSumsLine(readLineAt(fd, last));
    if (listed?.name === entry.name && listed.sha256 === entry.sha256) return undefined;
    return appendLine(sums, fd, formatSumsLine(entry.name, entry.sha256));
  } finally {
    closeSync(fd);
  }
}

/** Adds to the index what was appended since the file was read, also by other runs. */
function readAppended({ index, parser }: Sums, fd: number): void {
  parser.rewind();
  const { size } = fstatSync(fd);
  if (size > parser.end) addToIndex(index, parser.add(readAt(fd, parser.end, size - parser.end)));
}

/**
 * Appends a line by one write, and returns its offset. If the file does not end with a line feed, the line begins with
 * one, and what is in front of it is looked at again. A line that another process was just writing is whole by then,
 * and ends with its own line feed. Otherwise a crash has cut it off, and it becomes a comment. After a partial write, the
 * loop treats the partial line in the same way. On a full disk, the write throws.
 */
function appendLine(sums: Sums, fd: number, line: string): number {
  for (;;) {
    const { end } = sums.parser;
    const isMidLine = fstatSync(fd).size > end;
    const bytes = Buffer.from(isMidLine ? `\n${line}` : line);
    const isWhole = writeSync(fd, bytes) === bytes.length;
    if (!isWhole) {
      readAppended(sums, fd);
      continue;
    }
    const added = readAt(fd, end, fstatSync(fd).size - end);
    const at = added.lastIndexOf(bytes);
    if (isMidLine && added[at - 1] !== LINE_FEED) {
      const torn = added.lastIndexOf(LINE_FEED, at - 1) + 1;
      commentOutLine(sums.path, end + torn, () => true);
    }
    readAppended(sums, fd);
    return end + at + (isMidLine ? 1 : 0);
  }
}

function removeFromIndex({ last, older }: SumsIndex, key: string, offsets: readonly number[]): void {
  const rest = [...(older.get(key) ?? []), last.get(key)].filter((at) => at !== undefined && !offsets.includes(at));
  const newLast = rest.pop();
  if (newLast === undefined) last.delete(key);
  else last.set(key, newLast);
  if (rest.length === 0) older.delete(key);
  else older.set(key, rest as number[]);
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

function readEntryAt(path: string, offset: number): SumsEntry | undefined {
  const { fd } = openRegular(path, constants.O_RDONLY | O_NOFOLLOW);
  try {
    return parseSumsLine(readLineAt(fd, offset));
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

/** Does nothing if somebody has moved the directory away, because its files are gone as well. */
async function flushSums(directory: string): Promise<void> {
  const path = `${directory}/${SUMS_NAME}`;
  await mapWriteErrors(path, async () => {
    try {
      const { fd } = openRegular(path, OPEN_TO_FLUSH | O_NOFOLLOW);
      await flushFile(fd).finally(() => closeSync(fd));
      // The file may be new. Its name is on the disk only after its directory is flushed.
      await flushDirectory(directory);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  });
}
