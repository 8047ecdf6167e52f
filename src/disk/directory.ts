import { constants, readdirSync, type Stats, statSync } from 'node:fs';
import { open, opendir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import { Disk } from './calls.ts';
import { diskFailure } from './failure.ts';
import { flushEntries, makeDirectories, makeDirectory, SharedFlush } from './make-directories.ts';

/** Every file system has long written what was changed before that. Milliseconds. */
export const WRITTEN_AFTER_MS = 600_000;
/** File systems' clocks tick coarsely: what was changed this long ago was changed before now. Milliseconds. */
const SURELY_PAST_MS = 2000;
/** So many entries are read at once. */
const ENTRIES_AT_ONCE = 1024;
/** A directory of this size has some thousand entries on most file systems. */
const SMALL_BYTES = 64 << 10;

/** What directories need to know of the run. */
export interface Surroundings {
  readonly platform: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Opened {
  readonly path: string;
  readonly stats: Stats;
  readonly disk: Disk;
  /** Whether this run has made it. */
  readonly isNew: boolean;
  /** Resolves when its own entry, and those above it that are new, are on disk. */
  readonly entryFlushed: Promise<void>;
}

/** A directory that files are written to: looked at once, its flushes shared by all who wait. */
export class Directory {
  /** Absolute. */
  readonly path: string;
  readonly disk: Disk;
  /** Whether this run has made it, so that nobody else's leftovers are in it. */
  readonly isNew: boolean;
  /** Whether it was seen to take names that differ in case for two. */
  tellsCase = false;
  readonly #surroundings: Surroundings;
  readonly #stats: Stats;
  readonly #entryFlushed: Promise<void>;
  #isEntryFlushed = false;
  readonly #flush = new SharedFlush(() => this.#flushEntries());
  /** What has changed before this is on disk, by the file system's clock. */
  #settledBefore = 0;
  /** When it was last changed, as it was flushed some time after that. */
  #settledAt: number | undefined;

  private constructor({ path, stats, disk, isNew, entryFlushed }: Opened, surroundings: Surroundings) {
    this.path = path;
    this.#stats = stats;
    this.disk = disk;
    this.isNew = isNew;
    this.#entryFlushed = entryFlushed;
    this.#surroundings = surroundings;
    // Whoever reports a file in it waits for that, and hears of a failure.
    entryFlushed.then(
      () => {
        this.#isEntryFlushed = true;
      },
      () => {},
    );
  }

  /** A directory that the user named (links on the way to it are the user's own); `make`: made when it is missing. Throws `local_io`. */
  static async open(path: string, make: boolean, surroundings: Surroundings): Promise<Directory> {
    const absolute = resolve(path);
    if (make) await makeDirectories(absolute);
    try {
      // As a directory, whatever it leads to.
      const stats = await stat(`${absolute}/.`);
      const disk = await Disk.under(absolute, surroundings.platform);
      // The working directory is nobody's to make.
      const mayBeNew = make && absolute !== resolve('.');
      const entryFlushed = mayBeNew ? settleAbove(absolute, stats.ctimeMs, surroundings) : Promise.resolve();
      return new Directory({ path: absolute, stats, disk, isNew: false, entryFlushed }, surroundings);
    } catch (error) {
      throw diskFailure(error, absolute);
    }
  }

  /**
   * The directory of that name in this one; `make`: made when it is missing. No link is followed. Throws `local_io`: for
   * this name alone when something else has it.
   */
  async child(name: string, make: boolean): Promise<Directory> {
    const path = this.entry(name);
    try {
      let stats = await this.disk.look(path);
      const isNew = stats === undefined && make && (await makeDirectory(path));
      stats ??= await this.disk.look(path);
      if (!stats) throw Object.assign(new Error(path), { code: 'ENOENT' });
      if (!stats.isDirectory()) throw inTheWay(path, stats);
      const entryFlushed = isNew ? this.flush().then(() => {}) : this.settle(stats.ctimeMs);
      const disk = stats.dev === this.#stats.dev ? this.disk : await Disk.under(path, this.#surroundings.platform);
      return new Directory({ path, stats, disk, isNew, entryFlushed }, this.#surroundings);
    } catch (error) {
      throw diskFailure(error, path);
    }
  }

  /** The path of an entry. */
  entry(name: string): string {
    return `${this.path}/${name}`;
  }

  /** The names of its entries, never all of a large one in memory. Throws what the system says. */
  async *names(): AsyncGenerator<string> {
    if (this.disk.isLocal && statSync(this.path).size <= SMALL_BYTES) yield* readdirSync(this.path);
    else for await (const { name } of await opendir(this.path, { bufferSize: ENTRIES_AT_ONCE })) yield name;
  }

  /**
   * Until its entries are on disk, and its own. False when its path leads to another directory by now, or to none: what
   * was put into this one is not there. Throws `local_io`.
   */
  async flush(): Promise<boolean> {
    const isThere = await this.#flush.wait();
    await this.#entryFlushed;
    return isThere;
  }

  /**
   * Until an entry that another run may have made is on disk, and the directory's own; `changed` is the ctime of what it
   * leads to, in milliseconds. Old ones are taken for written, so passing over a million files costs next to nothing.
   * Throws `local_io`.
   */
  async settle(changed: number): Promise<void> {
    if (changed >= this.#settledBefore) await this.#settleEntries();
    await this.#entryFlushed;
  }

  /** Whether `settle` would have nothing to do; a look at the disk, where that is a local one. */
  isSettled(changed: number): boolean {
    if (!this.#isEntryFlushed || !this.disk.isLocal) return false;
    if (changed < this.#settledBefore) return true;
    return this.#settledAt !== undefined && statSync(this.path, { throwIfNoEntry: false })?.mtimeMs === this.#settledAt;
  }

  async #settleEntries(): Promise<void> {
    const { mtimeMs } = await this.#statNow();
    if (mtimeMs === this.#settledAt) return;
    const age = this.#surroundings.now() - mtimeMs;
    if (age < WRITTEN_AFTER_MS) await this.#flush.wait();
    this.#settledBefore = Math.max(this.#settledBefore, mtimeMs);
    if (age > SURELY_PAST_MS) this.#settledAt = mtimeMs;
  }

  async #statNow(): Promise<Stats> {
    try {
      return this.disk.isLocal ? statSync(this.path) : await stat(this.path);
    } catch (error) {
      throw diskFailure(error, this.path);
    }
  }

  async #flushEntries(): Promise<boolean> {
    try {
      const handle = await open(this.path, constants.O_RDONLY | constants.O_DIRECTORY);
      try {
        const { dev, ino } = await handle.stat();
        if (dev !== this.#stats.dev || ino !== this.#stats.ino) return false;
        await flushEntries(handle);
        return true;
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return false;
      throw diskFailure(error, this.path);
    }
  }
}

/** As `settle`, of a directory's own entry; what may not be read is not ours to flush. Throws `local_io`. */
async function settleAbove(path: string, changed: number, surroundings: Surroundings): Promise<void> {
  const above = await Directory.open(dirname(path), false, surroundings);
  await above.settle(changed).catch((error) => {
    if (errnoOf((error as Error).cause) !== 'EACCES') throw error;
  });
}

/** An error of that one path. */
function inTheWay(path: string, stats: Stats): FilingsError {
  const link = stats.isSymbolicLink();
  return new FilingsError('local_io', `${path}: cannot write there: ${link ? 'it is a link' : 'it is no directory'}`, {
    hint: link
      ? 'links below the target directory are not followed: remove it, or choose another directory'
      : 'move it away, or choose another directory with --directory',
  });
}
