// Keeps the SHA256SUMS of each directory of a run true. An entry is on the disk before its file gets its final name,
// and older entries become comments only after that. So an entry may be ahead of its file, but never behind it. Nothing
// is ever removed or moved, because other runs may be using the same SHA256SUMS.
import { closeSync, constants, fstatSync, readSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { flushFile, OPEN_TO_FLUSH, undefinedIfMissing } from '../disk/calls.ts';
import type { Directories, Directory } from '../disk/directory.ts';
import { toReadError, toWriteError } from '../disk/failure.ts';
import { openRegular } from '../disk/open-file.ts';
import { createSharedFlush } from '../disk/shared-flush.ts';
import { formatSumsLine, parseSumsLine, SUMS_NAME, SumsIndex, SumsParser } from './format.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
const TO_APPEND = O_RDWR | O_APPEND | O_NOFOLLOW;
/** Longer than any line that is not an error, so that each block has the end of a line. */
const BLOCK_BYTES = 1 << 21;
/** Small, so that V8 soon frees the bytes and their lines: a `SHA256SUMS` may have a million. */
const CHUNK_BYTES = 1 << 16;
/** Longer than any line that this program writes. */
const LINE_BUFFER_BYTES = 4096;

/** The entry of a file that is about to get its final name. */
export interface Announcement {
  /** Call this when the file has its final name. Makes the entries before this one comments. */
  settle(): Promise<void>;
  /**
   * Call this if another file keeps the final name. Makes this entry a comment, unless an earlier run wrote it. Never
   * throws: after a failure, `verify` reports the file as changed.
   */
  withdraw(): Promise<void>;
}

/** The SHA256SUMS of all directories of a run. */
export type ChecksumFiles = ReturnType<typeof createChecksumFiles>;

export function createChecksumFiles(directories: Directories) {
  const files = new WeakMap<Directory, SumsFile>();
  return {
    at(directory: Directory): SumsFile {
      const file = files.get(directory) ?? new SumsFile(directory.path, directories);
      files.set(directory, file);
      return file;
    },
  };
}

/**
 * The SHA256SUMS of one directory. All methods throw `local_io`, and `integrity` if it has a line over 1 MiB. After
 * a failure, no further file of the directory is requested.
 */
export class SumsFile {
  readonly #directory: string;
  readonly #directories: Directories;
  readonly #path: string;
  /** What has been read, and of which file. */
  #index = new SumsIndex();
  #parser: SumsParser;
  #inode: number | undefined;
  #reading: Promise<void> | undefined;
  #isWritable = false;
  #areOldEntriesFlushed = false;
  readonly #flush = createSharedFlush(() => this.#flushNow());

  constructor(directory: string, directories: Directories) {
    this.#directory = directory;
    this.#directories = directories;
    this.#path = `${directory}/${SUMS_NAME}`;
    this.#parser = new SumsParser(this.#path);
  }

  async checkBeforeRequest(): Promise<void> {
    await this.#read();
    if (this.#isWritable) return;
    if (this.#inode !== undefined) await this.#try(async () => useFile(this.#path, TO_APPEND, () => {}));
    this.#isWritable = true;
  }

  /**
   * Says what a file should be, before it gets its final name: appends an entry, unless the last entry has the same
   * hash. The entry is flushed even if another run has appended it.
   */
  async announce(name: string, sha256: string): Promise<Announcement> {
    const { own, older, isAppended } = await this.#try(async () => this.#appendUnlessLast(name, sha256));
    const announcement: Announcement = {
      settle: () => this.#commentOut(name, older),
      withdraw: () => this.#commentOut(name, isAppended ? [own] : []).catch(() => {}),
    };
    try {
      await this.flush();
      return announcement;
    } catch (error) {
      await announcement.withdraw();
      throw error;
    }
  }

  /**
   * Lists an existing file, unless it is listed. `known` is its hash, if its bytes are known to be right; otherwise
   * `hash` reads the file if there is not exactly one entry. If it is not what the last of several entries says, all of
   * them stay, so that `verify` reports the file.
   */
  async listExisting(name: string, known: string | undefined, hash: () => Promise<string>) {
    await this.#read();
    const offsets = this.#index.find(name);
    const last = offsets.at(-1);
    if (known === undefined && offsets.length === 1) {
      // Another run may have listed the existing file, and have died before it flushed the entry.
      if (!this.#areOldEntriesFlushed) await this.flush();
      return { isAsListed: true };
    }
    const sha256 = known ?? (await hash());
    const isAsListed = known !== undefined || last === undefined || this.#hashAt(last) === sha256;
    if (isAsListed) await (await this.announce(name, sha256)).settle();
    return { isAsListed, sha256 };
  }

  async flush(): Promise<void> {
    await this.#try(this.#flush);
    this.#areOldEntriesFlushed = true;
  }

  /** The name of a new SHA256SUMS is flushed together with that of its first file. */
  async #flushNow(): Promise<void> {
    const { fd } = openRegular(this.#path, OPEN_TO_FLUSH | O_NOFOLLOW);
    await flushFile(fd).finally(() => closeSync(fd));
  }

  /** Reads it once. What is appended later is read before this run appends. */
  #read(): Promise<void> {
    this.#reading ??= this.#try(() => this.#readAll().catch(undefinedIfMissing), toReadError);
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const { fd } = openRegular(this.#path, O_RDONLY | O_NOFOLLOW);
    try {
      while (this.#readBlock(fd)) await setImmediate();
    } finally {
      closeSync(fd);
    }
  }

  /** Reads what has not been read: all of it, if the file was replaced. Returns whether more may follow. */
  #readBlock(fd: number): boolean {
    const { ino, size } = fstatSync(fd);
    if (ino !== this.#inode || size < this.#parser.parsedBytes) {
      this.#inode = ino;
      this.#index = new SumsIndex();
      this.#parser = new SumsParser(this.#path);
    }
    const { parsedBytes: end } = this.#parser;
    this.#parser.rewind();
    const blockEnd = Math.min(size, end + BLOCK_BYTES);
    for (let at = end; at < blockEnd; at += CHUNK_BYTES)
      this.#index.add(this.#parser.add(readAt(fd, at, Math.min(blockEnd - at, CHUNK_BYTES))));
    return size > blockEnd;
  }

  /**
   * Appends an entry, unless the last entry of its name has the same hash. Synchronous, so that two appends of this run
   * never overlap.
   */
  #appendUnlessLast(name: string, sha256: string) {
    return useFile(this.#path, TO_APPEND | O_CREAT, (fd) => {
      while (this.#readBlock(fd));
      const known = this.#index.find(name);
      const last = known.at(-1);
      const listed = last === undefined ? undefined : parseSumsLine(readLineAt(fd, last));
      if (last !== undefined && listed?.name === name && listed.sha256 === sha256)
        return { own: last, older: known.slice(0, -1), isAppended: false };
      const own = this.#appendLine(fd, formatSumsLine(name, sha256));
      const older = this.#index.find(name).filter((offset) => offset < own);
      return { own, older, isAppended: true };
    });
  }

  /**
   * Appends a line by one write, and returns its offset. After a partial write it tries again; on a full disk, the
   * second write throws. If the file does not end with a line feed, the line begins with one, and what is in front of
   * it is looked at again: a line that another process was just writing is whole by then. Otherwise it is torn, as that
   * of a partial write is, and becomes a comment.
   */
  #appendLine(fd: number, line: string): number {
    for (;;) {
      const { parsedBytes: end } = this.#parser;
      const isMidLine = fstatSync(fd).size > end;
      const bytes = Buffer.from(isMidLine ? `\n${line}` : line);
      const isWhole = writeSync(fd, bytes) === bytes.length;
      const added = readAt(fd, end, fstatSync(fd).size - end);
      const at = added.lastIndexOf(bytes);
      const torn = added.lastIndexOf('\n', at - 1) + 1;
      if (isWhole && isMidLine && torn < at) {
        const text = firstLineOf(added.subarray(torn, torn + LINE_BUFFER_BYTES));
        commentOutLines(this.#path, [end + torn], (found) => found === text);
      }
      while (this.#readBlock(fd));
      if (isWhole) return end + at + (isMidLine ? 1 : 0);
    }
  }

  #hashAt(offset: number): string | undefined {
    return useFile(this.#path, O_RDONLY | O_NOFOLLOW, (fd) => parseSumsLine(readLineAt(fd, offset))?.sha256);
  }

  /** Skips lines that are no entries of `name`. */
  async #commentOut(name: string, offsets: readonly number[]): Promise<void> {
    if (offsets.length === 0) return;
    await this.#try(async () => commentOutLines(this.#path, offsets, (line) => parseSumsLine(line)?.name === name));
    this.#index.remove(name, offsets);
    await this.flush();
  }

  async #try<T>(work: () => Promise<T>, toError = toWriteError): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#directories.toSumsError(this.#directory, toError(error, this.#path));
    }
  }
}

/**
 * Overwrites the first byte of each line with `#`. Skips a line unless `isExpected` accepts what is there now, because
 * another program may have rewritten the file. Opens the file again, because a descriptor with O_APPEND writes only at
 * the end (pwrite(2)).
 */
function commentOutLines(path: string, offsets: readonly number[], isExpected: (line: string) => boolean): void {
  useFile(path, O_RDWR | O_NOFOLLOW, (fd) => {
    for (const offset of offsets) if (isExpected(readLineAt(fd, offset))) writeSync(fd, '#', offset);
  });
}

function useFile<T>(path: string, flags: number, work: (fd: number) => T): T {
  const { fd } = openRegular(path, flags);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

function readLineAt(fd: number, offset: number): string {
  return firstLineOf(readAt(fd, offset, LINE_BUFFER_BYTES));
}

function firstLineOf(bytes: Buffer): string {
  return /^[^\r\n]*/.exec(bytes.toString())?.[0] ?? '';
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}
