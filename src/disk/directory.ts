// Represents an open directory of a run. The type of its disk is read once, and its flushes are shared. A file is
// durable only if its own bytes, its entry and the entries of all new directories above it are flushed.
import { readdirSync, type Stats, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { type Disk, selectDisk } from './calls.ts';
import { diskError, withDiskError } from './failure.ts';
import { flushDirectory, makeDirectories, makeDirectory } from './make-directories.ts';

/** The age at which a file system has surely written a change, even without a flush. Milliseconds. */
const MIN_WRITTEN_AGE_MS = 600_000;
/** The clock of a file system is coarse: only a change that is older than this is surely in the past. Milliseconds. */
const CLOCK_GRANULARITY_MS = 2000;
/** The largest directory that is read by one call, in bytes. This is some thousand entries on most file systems. */
const MAX_SYNC_READ_BYTES = 64 << 10;
/** The number of entries of a larger directory that are read by one call. */
const ENTRIES_PER_READ = 1024;

interface DirectoryDeps extends Pick<World, 'cwd' | 'platform' | 'now' | 'sleep'> {
  /** A dry run flushes nothing. */
  readonly isReadOnly?: boolean;
}

/**
 * Names by the key that names share if some disk takes them for one. Several names of one key are joined by slashes.
 */
export type Spellings = ReadonlyMap<string, string>;

/** An open directory, whose flushes are shared by all callers. */
export class Directory {
  /** The absolute path. */
  readonly path: string;
  readonly disk: Disk;
  /** True once the disk has distinguished two names that differ only in case. */
  isCaseSensitive = false;
  /** The names of the entries, once they have been read for a disk without case. */
  spellings: Spellings | undefined;
  readonly #deps: DirectoryDeps;
  readonly #stats: Stats;
  /** The pending flush of this directory's own entry, and of new entries above it; undefined when done. */
  #entryFlush: Promise<void> | undefined;
  /** Stays rejected after one failure: the kernel reports a failure only once, so another flush would succeed. */
  #lastFlush: Promise<unknown> = Promise.resolve();
  #nextFlush: Promise<boolean> | undefined;
  /** The time before which all entries are durable, by the clock of the file system. Milliseconds. */
  #settledBefore = 0;

  private constructor(path: string, stats: Stats, disk: Disk, entryFlush: Promise<void>, deps: DirectoryDeps) {
    this.path = path;
    this.#stats = stats;
    this.disk = disk;
    this.#deps = deps;
    this.#entryFlush = entryFlush;
    const clear = () => {
      this.#entryFlush = undefined;
    };
    // A failure is thrown by the `flush` or `settle` of each file in this directory.
    entryFlush.then(clear, () => {});
  }

  /**
   * Opens the directory that the user named by an absolute path, in which symbolic links are followed. Creates it if
   * `canCreate`. Throws `local_io`.
   */
  static open(absolute: string, canCreate: boolean, deps: DirectoryDeps): Promise<Directory> {
    return withDiskError(absolute, async () => {
      if (canCreate) await makeDirectories(absolute);
      // The final `/.` makes the call fail for anything but a directory.
      const stats = await stat(`${absolute}/.`);
      // On Windows that path can also be the path of a file.
      if (!stats.isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
      const disk = await selectDisk(absolute, deps);
      // The working directory exists, so its entry needs no flush.
      const canBeNew = canCreate && absolute !== deps.cwd;
      const entryFlush = canBeNew ? settleParent(absolute, stats.ctimeMs, deps) : Promise.resolve();
      return new Directory(absolute, stats, disk, entryFlush, deps);
    });
  }

  /**
   * Opens a directory in this one, and creates it if it is missing. No symbolic link is followed. Throws `local_io`;
   * the error ends this file alone if something else has the directory's name.
   */
  openChild(name: string): Promise<Directory> {
    const path = this.pathFor(name);
    return withDiskError(path, async () => {
      const before = await this.disk.lstat(path);
      const isNew = before === undefined && (await makeDirectory(path));
      const stats = before ?? (await this.disk.lstat(path));
      if (!stats?.isDirectory()) throw notADirectory(path, stats);
      const disk = stats.dev === this.#stats.dev ? this.disk : await selectDisk(path, this.#deps);
      const entryFlush = isNew ? this.flush().then(() => {}) : this.settle(stats.ctimeMs);
      return new Directory(path, stats, disk, entryFlush, this.#deps);
    });
  }

  /** Returns the absolute path of an entry. */
  pathFor(name: string): string {
    return `${this.path}${sep}${name}`;
  }

  /**
   * Yields the names of all entries, and never has all names of a large directory in memory. Throws the system error.
   */
  async *names(): AsyncGenerator<string> {
    if (this.disk.isLocal && statSync(this.path).size <= MAX_SYNC_READ_BYTES) {
      yield* readdirSync(this.path);
      return;
    }
    for await (const { name } of await opendir(this.path, { bufferSize: ENTRIES_PER_READ })) yield name;
  }

  /**
   * Flushes the entries of this directory and its own entry. Returns false if its path is missing or another directory
   * by now. Throws `local_io`.
   */
  async flush(): Promise<boolean> {
    const exists = await this.#flush();
    await this.#entryFlush;
    return exists;
  }

  /** Waits for a flush that starts after this call; callers share it. */
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
      // On Windows these numbers lose digits, and may differ between a path and a descriptor.
      if (this.#deps.platform === 'win32') return true;
      return dev === this.#stats.dev && ino === this.#stats.ino;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return false;
      throw diskError(error, this.path);
    }
  }

  /** Returns whether `settle` has nothing to do. `ctimeMs` is in milliseconds. */
  isSettled(ctimeMs: number): boolean {
    return this.#entryFlush === undefined && ctimeMs < this.#settledBefore;
  }

  /**
   * Makes an existing entry durable, which another run may have created, and the directory's own entry. Old entries
   * count as written, so that skipping a million files costs very little. `ctimeMs` is in milliseconds. Throws
   * `local_io`.
   */
  async settle(ctimeMs: number): Promise<void> {
    if (this.#deps.isReadOnly) return;
    if (ctimeMs >= this.#settledBefore) {
      const now = this.#deps.now();
      const lstatSelf = () => this.disk.lstat(this.pathFor('.'));
      const { mtimeMs = now } = (await withDiskError(this.path, lstatSelf)) ?? {};
      if (now - mtimeMs < MIN_WRITTEN_AGE_MS) await this.#flush();
      this.#settledBefore = Math.max(this.#settledBefore, mtimeMs, now - CLOCK_GRANULARITY_MS);
    }
    await this.#entryFlush;
  }
}

/**
 * Settles a directory's own entry. A parent that this user may not read cannot be flushed, which is not an error.
 * Throws `local_io`.
 */
async function settleParent(path: string, ctimeMs: number, deps: DirectoryDeps): Promise<void> {
  const parent = await Directory.open(dirname(path), false, deps);
  await parent.settle(ctimeMs).catch((error) => {
    if (errnoOf((error as Error).cause) !== 'EACCES') throw error;
  });
}

function notADirectory(path: string, stats: Stats | undefined): FilingsError {
  const kind = stats?.isSymbolicLink() ? 'a link' : 'no directory';
  return new FilingsError('local_io', `cannot write there: it is ${kind}`, {
    subject: { path },
    hint: { advice: 'other-directory' },
  });
}
