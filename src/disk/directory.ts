import { readdirSync, type Stats, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { type Disk, diskUnder } from './calls.ts';
import { diskFailure, withDiskFailure } from './failure.ts';
import { flushDirectory, makeDirectories, makeDirectory } from './make-directories.ts';

/** File systems have long written what was changed before that. Milliseconds. */
const WRITTEN_AFTER_MS = 600_000;
/** File systems' clocks tick coarsely: what changed this long ago changed before now. Milliseconds. */
const SURELY_PAST_MS = 2000;
/** Some thousand entries on most file systems; of a larger directory so many are read at once. */
const SMALL_BYTES = 64 << 10;
const ENTRIES_AT_ONCE = 1024;

interface DirectoryDeps extends Pick<World, 'cwd' | 'platform' | 'now' | 'sleep'> {
  /** A dry run flushes nothing. */
  readonly isReadOnly?: boolean;
}

/** Names by what those have in common that a disk may take for one; several of one key with slashes between them. */
export type Spellings = ReadonlyMap<string, string>;

/** Looked at once, its flushes shared by all who wait. */
export class Directory {
  /** Absolute. */
  readonly path: string;
  readonly disk: Disk;
  /** True once its disk was seen to take names that differ only in case for two. */
  isCaseSensitive = false;
  /** Its entries, once they were read for a disk that folds names. */
  spellings: Spellings | undefined;
  readonly #surroundings: DirectoryDeps;
  readonly #stats: Stats;
  /** Until its own entry, and those above it that are new, are on disk; undefined since then. */
  #entryFlush: Promise<void> | undefined;
  /** Rejected for good after one failure: the kernel reports it once, so another flush would succeed. */
  #lastFlush: Promise<unknown> = Promise.resolve();
  #nextFlush: Promise<boolean> | undefined;
  /** By the file system's clock. */
  #settledBefore = 0;

  private constructor(path: string, stats: Stats, disk: Disk, entryFlush: Promise<void>, surroundings: DirectoryDeps) {
    this.path = path;
    this.#stats = stats;
    this.disk = disk;
    this.#surroundings = surroundings;
    this.#entryFlush = entryFlush;
    // Whoever reports a file in it waits for that, and hears of a failure.
    const done = () => {
      this.#entryFlush = undefined;
    };
    entryFlush.then(done, () => {});
  }

  /** One that the user named, by an absolute path: links on the way are the user's own. Throws `local_io`. */
  static open(absolute: string, make: boolean, surroundings: DirectoryDeps): Promise<Directory> {
    return withDiskFailure(absolute, async () => {
      if (make) await makeDirectories(absolute);
      // As a directory, whatever it leads to.
      const stats = await stat(`${absolute}/.`);
      // Windows takes the same path for that of a file.
      if (!stats.isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
      const disk = await diskUnder(absolute, surroundings);
      // The working directory is nobody's to make.
      const mayBeNew = make && absolute !== surroundings.cwd;
      const entryFlush = mayBeNew ? settleAbove(absolute, stats.ctimeMs, surroundings) : Promise.resolve();
      return new Directory(absolute, stats, disk, entryFlush, surroundings);
    });
  }

  /** Made when missing; no link is followed. Throws `local_io`: for it alone when something else has its name. */
  child(name: string): Promise<Directory> {
    const path = this.entry(name);
    return withDiskFailure(path, async () => {
      const before = await this.disk.lstat(path);
      const isNew = before === undefined && (await makeDirectory(path));
      const stats = before ?? (await this.disk.lstat(path));
      if (!stats?.isDirectory()) throw inTheWay(path, stats);
      const disk = stats.dev === this.#stats.dev ? this.disk : await diskUnder(path, this.#surroundings);
      const entryFlush = isNew ? this.flush().then(() => {}) : this.settle(stats.ctimeMs);
      return new Directory(path, stats, disk, entryFlush, this.#surroundings);
    });
  }

  entry(name: string): string {
    return `${this.path}${sep}${name}`;
  }

  /** Never all of a large directory in memory. Throws what the system says. */
  async *names(): AsyncGenerator<string> {
    if (this.disk.isLocal && statSync(this.path).size <= SMALL_BYTES) yield* readdirSync(this.path);
    else for await (const { name } of await opendir(this.path, { bufferSize: ENTRIES_AT_ONCE })) yield name;
  }

  /**
   * Until its entries are on disk, and its own. False when its path leads to another directory by now, or to none.
   * Throws `local_io`.
   */
  async flush(): Promise<boolean> {
    const isThere = await this.#flush();
    await this.#entryFlush;
    return isThere;
  }

  /** Waits for a flush that begins after this call; callers share it. */
  #flush(): Promise<boolean> {
    if (!this.#nextFlush) {
      this.#nextFlush = this.#lastFlush.then(() => {
        this.#nextFlush = undefined;
        return this.#flushEntries();
      });
      this.#lastFlush = this.#nextFlush;
    }
    return this.#nextFlush;
  }

  async #flushEntries(): Promise<boolean> {
    try {
      const { dev, ino } = await flushDirectory(this.path);
      // On Windows these numbers lose digits, and need not be the same by path and by descriptor.
      if (this.#surroundings.platform === 'win32') return true;
      return dev === this.#stats.dev && ino === this.#stats.ino;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return false;
      throw diskFailure(error, this.path);
    }
  }

  isSettled(changed: number): boolean {
    return this.#entryFlush === undefined && changed < this.#settledBefore;
  }

  /**
   * Until an entry that another run may have made is on disk, and the directory's own. Old ones are taken for written,
   * so passing over a million files costs next to nothing. `changed` is a ctime in milliseconds. Throws `local_io`.
   */
  async settle(changed: number): Promise<void> {
    if (this.#surroundings.isReadOnly) return;
    if (changed >= this.#settledBefore) {
      const now = this.#surroundings.now();
      const look = () => this.disk.lstat(this.entry('.'));
      const { mtimeMs = now } = (await withDiskFailure(this.path, look)) ?? {};
      if (now - mtimeMs < WRITTEN_AFTER_MS) await this.#flush();
      this.#settledBefore = Math.max(this.#settledBefore, mtimeMs, now - SURELY_PAST_MS);
    }
    await this.#entryFlush;
  }
}

/** As `settle`, of its own entry; what may not be read is not ours to flush. Throws `local_io`. */
async function settleAbove(path: string, changed: number, surroundings: DirectoryDeps): Promise<void> {
  const above = await Directory.open(dirname(path), false, surroundings);
  await above.settle(changed).catch((error) => {
    if (errnoOf((error as Error).cause) !== 'EACCES') throw error;
  });
}

function inTheWay(path: string, stats: Stats | undefined): FilingsError {
  const what = stats?.isSymbolicLink() ? 'a link' : 'no directory';
  return new FilingsError('local_io', `cannot write there: it is ${what}`, {
    subject: { path },
    hint: { advice: 'other-directory' },
  });
}
