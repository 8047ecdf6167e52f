// The SHA256SUMS of each directory that `download --checksums` writes to. An entry says what a file should be, so it is
// appended before the file gets its final name. It may be ahead of its file, but never behind it: whatever fails or
// dies after that, `verify` finds the file missing or changed. docs/guarantees.md has a table of the states in between.
//
// Several runs may write to one SHA256SUMS at the same time, so nothing in it is ever removed or moved. There are only
// two kinds of changes: a line is appended by a single write, and a line becomes a comment when its first byte is
// overwritten with `#`.
import { closeSync, constants, existsSync, fstatSync, lstatSync, readSync, type Stats, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { flushFile, OPEN_TO_FLUSH } from '../disk/calls.ts';
import { goneDirectoryError, toWriteError } from '../disk/failure.ts';
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

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
const TO_APPEND = O_RDWR | O_APPEND | O_NOFOLLOW;
/** How many SHA256SUMS files are remembered. One that was dropped is read again when it is needed. */
const MAX_REMEMBERED = 256;
/** So many lines become comments before signals have their turn. */
const MAX_COMMENTS_AT_ONCE = 1000;
/** Longer than any line that this program writes. */
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

/** The SHA256SUMS of all directories of a run. */
export class ChecksumFiles {
  readonly #files = new Map<string, SumsFile>();
  /** Those with changes that are not known to be on the disk. */
  readonly #unflushed = new Map<string, SumsFile>();

  /** `directory` is an absolute path. */
  at(directory: string): SumsFile {
    const known = this.#files.get(directory);
    if (known) return known;
    const [oldest] = this.#files;
    if (oldest && this.#files.size >= MAX_REMEMBERED) {
      this.#files.delete(oldest[0]);
      oldest[1].forget();
    }
    const onChange = (changed: SumsFile) => this.#unflushed.set(directory, changed);
    const file = this.#unflushed.get(directory) ?? new SumsFile(directory, onChange);
    this.#files.set(directory, file);
    return file;
  }

  /** Flushes these directories, by default all. If some fail, throws the first error at the end. */
  async flush(directories: Iterable<string> = [...this.#unflushed.keys()]): Promise<void> {
    let failure: unknown;
    for (const directory of directories) {
      const file = this.#unflushed.get(directory);
      await file?.flush().catch((error) => {
        failure ??= error;
      });
      if (!file?.needsFlush) this.#unflushed.delete(directory);
    }
    if (failure) throw failure;
  }
}

interface Content {
  readonly index: SumsIndex;
  readonly parser: SumsParser;
  /** Undefined if there was no file. */
  inode: number | undefined;
}

/** The SHA256SUMS of one directory. All methods throw `local_io`, and `integrity` if it has a line over 1 MiB. */
export class SumsFile {
  readonly #directory: string;
  readonly #path: string;
  readonly #onChange: (changed: SumsFile) => void;
  #content: Promise<Content> | undefined;
  #isWritable = false;
  /** Whether this run has created it, so that the directory must be flushed, too. */
  #isNew = false;
  /** Why it cannot be written. */
  #failure: unknown;
  /** The number of changes that this run relies on, its own and those of others, and how many of them are on the disk. */
  #changes = 0;
  #flushedChanges = 0;
  readonly #flush = new SharedFlush(() => this.#flushNow());

  /** `onChange` is called when there is something to flush. */
  constructor(directory: string, onChange: (changed: SumsFile) => void) {
    this.#directory = directory;
    this.#onChange = onChange;
    this.#path = `${directory}/${SUMS_NAME}`;
  }

  get needsFlush(): boolean {
    return this.#changes > this.#flushedChanges;
  }

  /** Frees the memory. */
  forget(): void {
    this.#content = undefined;
  }

  /** Call this before a file of the directory is requested. After a failure, every later call throws the same error. */
  async requireWritable(): Promise<void> {
    const { inode } = await this.#read();
    if (this.#failure) throw this.#failure;
    if (!this.#isWritable && inode !== undefined) await this.#try(async () => useFile(this.#path, TO_APPEND, () => {}));
    this.#isWritable = true;
  }

  /**
   * Says what a file should be, before it gets its final name: appends an entry, unless the last entry has the same
   * hash. If there are other entries, all are flushed: a power cut must not leave the new file with an old hash alone.
   */
  async announce(name: string, sha256: string): Promise<Announcement> {
    const content = await this.#readAgainIfReplaced();
    const { index } = content;
    const key = digestOf(name);
    const appendedAt = await this.#try(async () => this.#appendUnlessLast(content, { name, sha256 }));
    // Also if another run has appended it.
    this.#noteChange();
    const own = appendedAt ?? index.last.get(key) ?? 0;
    const older = (index.older.get(key) ?? []).filter((offset) => offset < own);
    const commentOut = async (offsets: readonly number[]) => {
      if (offsets.length === 0) return;
      await this.#try(() => commentOutLines(this.#path, name, offsets));
      this.#noteChange();
      removeFromIndex(index, key, new Set(offsets));
    };
    const announcement: Announcement = {
      settle: () => commentOut(older),
      // After a failure, `verify` reports the file as changed.
      withdraw: async () => (appendedAt === undefined ? undefined : commentOut([own]).catch(() => {})),
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
   * them stay, so that `verify` reports the file.
   */
  async listExisting(name: string, known: string | undefined, hash: () => Promise<string>) {
    const { index } = await this.#read();
    const key = digestOf(name);
    const last = index.last.get(key);
    // Another run may have written the entry, and have died before it flushed it.
    if (last !== undefined) this.#noteChange();
    if (known === undefined && last !== undefined && !index.older.has(key)) return { isAsListed: true };
    const sha256 = known ?? (await hash());
    const isAsListed = known !== undefined || last === undefined || this.#hashAt(last) === sha256;
    if (isAsListed) await (await this.announce(name, sha256)).settle();
    return { isAsListed, sha256 };
  }

  /** A failure is for ever: the kernel reports lost bytes only once. */
  async flush(): Promise<void> {
    if (!this.needsFlush) return;
    const changes = this.#changes;
    await this.#try(() => this.#flush.run());
    this.#flushedChanges = Math.max(changes, this.#flushedChanges);
  }

  async #flushNow(): Promise<void> {
    // If somebody has moved the directory away, its files are gone as well.
    if (!existsSync(this.#directory)) return;
    const { fd } = openRegular(this.#path, OPEN_TO_FLUSH | O_NOFOLLOW);
    await flushFile(fd).finally(() => closeSync(fd));
    if (this.#isNew) await flushDirectory(this.#directory);
    this.#isNew = false;
  }

  #read(): Promise<Content> {
    this.#content ??= readSumsFile(this.#path).catch((error) => {
      throw this.#asDirectoryFailure(error);
    });
    return this.#content;
  }

  async #readAgainIfReplaced(): Promise<Content> {
    const { inode, parser } = await this.#read();
    const stats = lstatSync(this.#path, { throwIfNoEntry: false });
    if (stats?.ino !== inode || (stats?.size ?? 0) < parser.end) this.forget();
    return this.#read();
  }

  /**
   * Appends an entry, unless the last entry of its name has the same hash. Returns its offset if it was appended.
   * Synchronous, so that two appends of this run never overlap.
   */
  #appendUnlessLast(content: Content, entry: SumsEntry): number | undefined {
    return useFile(this.#path, TO_APPEND | O_CREAT, (fd, stats) => {
      this.#isNew ||= content.inode === undefined;
      content.inode ??= stats.ino;
      readAppended(content, fd);
      const last = content.index.last.get(digestOf(entry.name));
      const listed = last === undefined ? undefined : parseSumsLine(readLineAt(fd, last));
      if (listed?.name === entry.name && listed.sha256 === entry.sha256) return undefined;
      return appendLine(this.#path, content, fd, formatSumsLine(entry.name, entry.sha256));
    });
  }

  #hashAt(offset: number): string | undefined {
    return useFile(this.#path, O_RDONLY | O_NOFOLLOW, (fd) => parseSumsLine(readLineAt(fd, offset))?.sha256);
  }

  #noteChange(): void {
    if (!this.needsFlush) this.#onChange(this);
    this.#changes += 1;
  }

  /** Remembers a failure of `work`, which writes or flushes. */
  async #try<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isGone = errnoOf(error) === 'ENOENT' && !existsSync(this.#directory);
      this.#failure = this.#asDirectoryFailure(
        isGone ? goneDirectoryError(this.#directory) : toWriteError(error, this.#path),
      );
      throw this.#failure;
    }
  }

  #asDirectoryFailure(error: unknown): unknown {
    return error instanceof FilingsError ? error.with({ failedDirectory: this.#directory }) : error;
  }
}

async function readSumsFile(path: string): Promise<Content> {
  // Taken first: if the file is replaced now, its inode will differ from this one.
  const inode = lstatSync(path, { throwIfNoEntry: false })?.ino;
  const index: SumsIndex = { last: new Map(), older: new Map() };
  const parser = new SumsParser(path);
  for await (const chunk of readRegular(path, path, O_NOFOLLOW)) addToIndex(index, parser.add(chunk));
  return { index, parser, inode };
}

/** Adds to the index what this and other runs have appended since the file was read. */
function readAppended({ index, parser }: Content, fd: number): void {
  parser.rewind();
  const { size } = fstatSync(fd);
  if (size > parser.end) addToIndex(index, parser.add(readAt(fd, parser.end, size - parser.end)));
}

/**
 * Appends a line by one write, and returns its offset. If the file does not end with a line feed, the line begins with
 * one, and what is in front of it is looked at again: a line that another process was just writing is whole by then,
 * and otherwise it is torn and becomes a comment. So does the rest of a partial write. On a full disk, the write
 * throws.
 */
function appendLine(path: string, content: Content, fd: number, line: string): number {
  for (;;) {
    const { end } = content.parser;
    const isMidLine = fstatSync(fd).size > end;
    const bytes = Buffer.from(isMidLine ? `\n${line}` : line);
    const isWhole = writeSync(fd, bytes) === bytes.length;
    if (!isWhole) {
      readAppended(content, fd);
      continue;
    }
    const added = readAt(fd, end, fstatSync(fd).size - end);
    const at = added.lastIndexOf(bytes);
    if (isMidLine && added[at - 1] !== LINE_FEED) {
      const torn = added.lastIndexOf(LINE_FEED, at - 1) + 1;
      const text = firstLineOf(added.subarray(torn, torn + LINE_BUFFER_BYTES));
      commentOutLine(path, end + torn, (found) => found === text);
    }
    readAppended(content, fd);
    return end + at + (isMidLine ? 1 : 0);
  }
}

function removeFromIndex({ last, older }: SumsIndex, key: string, offsets: ReadonlySet<number>): void {
  const all = [...(older.get(key) ?? []), ...(last.has(key) ? [last.get(key) as number] : [])];
  const rest = all.filter((offset) => !offsets.has(offset));
  const newLast = rest.pop();
  if (newLast === undefined) last.delete(key);
  else last.set(key, newLast);
  if (rest.length === 0) older.delete(key);
  else older.set(key, rest);
}

/** Skips lines that are no entries of `name`. */
async function commentOutLines(path: string, name: string, offsets: readonly number[]): Promise<void> {
  for (const [at, offset] of offsets.entries()) {
    if (at % MAX_COMMENTS_AT_ONCE === MAX_COMMENTS_AT_ONCE - 1) await setImmediate();
    commentOutLine(path, offset, (line) => parseSumsLine(line)?.name === name);
  }
}

/**
 * Overwrites the first byte of the line at `offset` with `#`. Does nothing unless `isExpected` accepts the line that is
 * there now, because another program may have rewritten the file. Opens the file again, because a descriptor with
 * O_APPEND writes only at the end (pwrite(2)).
 */
function commentOutLine(path: string, offset: number, isExpected: (line: string) => boolean): void {
  useFile(path, O_RDWR | O_NOFOLLOW, (fd) => {
    if (isExpected(readLineAt(fd, offset))) writeSync(fd, '#', offset);
  });
}

function useFile<T>(path: string, flags: number, work: (fd: number, stats: Stats) => T): T {
  const { fd, stats } = openRegular(path, flags);
  try {
    return work(fd, stats);
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
