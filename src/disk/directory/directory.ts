import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errnoOf } from '../../errors.ts';
import { Disk, type Waiting } from '../calls/disk.ts';
import type { OpenFile } from '../calls/open-file.ts';
import { diskFailure } from '../failure.ts';
import { inTheWay } from './in-the-way.ts';
import { flushEntries, makeDirectories, makeFolder } from './make-directories.ts';
import { allNames, fewNames } from './names.ts';
import { Settled, settleDirectory } from './settled.ts';
import { SharedFlush } from './shared-flush.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Where owners can't be told apart, their names may be taken; so many in a row are no accident. */
const MOST_NAMES = 100;

/** How a directory came to be below another. */
interface Birth {
  /** Its entry is on disk then. */
  readonly flushed: Promise<void>;
  /** False: another run made it. */
  readonly byUs: boolean;
}

/** What directories need to know of the run that holds them open. */
export interface Surroundings {
  readonly platform: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly waiting: Waiting;
}

interface Opened {
  readonly path: string;
  readonly handle: FileHandle;
  readonly base: string;
  readonly surroundings: Surroundings;
  readonly disk: Disk;
  readonly birth: Birth;
}

/**
 * A directory held open, so that a path swapped for a link meanwhile changes nothing:
 * on Linux its entries are reached through `/proc/self/fd`, elsewhere by path.
 */
export class Directory {
  /** Absolute, for people. */
  readonly path: string;
  /** Whether this run has made it, so that nobody else's leftovers are in it. */
  readonly isNew: boolean;
  /** The one that it is on. */
  readonly disk: Disk;
  /** What it was seen to tell apart, which `otherSpelling` need not ask again. */
  readonly tellsApart = { case: false, form: false };
  readonly #handle: FileHandle;
  readonly #base: string;
  readonly #birth: Birth;
  readonly #surroundings: Surroundings;
  readonly #settled: Settled;
  readonly #entriesFlush = new SharedFlush(() => this.#flush());
  #few: Promise<ReadonlySet<string> | undefined> | undefined;

  private constructor({ path, handle, base, surroundings, disk, birth }: Opened) {
    this.path = path;
    this.#handle = handle;
    this.#base = base;
    this.#birth = birth;
    this.#surroundings = surroundings;
    this.disk = disk;
    this.isNew = birth.byUs;
    const { now } = surroundings;
    this.#settled = new Settled({ stat: () => handle.stat(), flush: () => this.#entriesFlush.wait(), now });
  }

  /** Opens a directory (links on the way to it are the user's own), making it first when it may be missing. Throws `local_io`. */
  static async open(path: string, make: boolean, surroundings: Surroundings): Promise<Directory> {
    const absolute = resolve(path);
    if (make) await makeDirectories(absolute);
    try {
      const handle = await open(absolute, O_RDONLY | O_DIRECTORY);
      const viaProc = procPath(handle);
      const stable = await lstat(`${viaProc}/.`).then(
        () => true,
        () => false,
      );
      // The working directory is nobody's to make.
      const flushed =
        make && absolute !== resolve('.') ? settleDirectory(absolute, surroundings.now) : Promise.resolve();
      flushed.catch(() => {});
      const base = stable ? viaProc : absolute;
      const disk = await Disk.under(base, surroundings.platform, surroundings.waiting);
      return new Directory({ path: absolute, handle, base, surroundings, disk, birth: { flushed, byUs: false } });
    } catch (error) {
      throw diskFailure(error, absolute);
    }
  }

  /**
   * Opens the directory of that name in this one, making it first when it may be missing; no link is followed. Throws
   * `local_io`: for this name alone when something else has it. A new one's flush needs this one open (`settled`).
   */
  async child(name: string, make: boolean): Promise<Directory> {
    const entry = this.entry(name);
    try {
      const there = await openChild(entry).catch((error) => {
        if (!make || errnoOf(error) !== 'ENOENT') throw error;
      });
      if (there) return await this.#below(name, there, { flushed: this.#settleEntryOf(there), byUs: false });
      const byUs = await makeFolder(entry);
      const flushed = this.sync();
      flushed.catch(() => {});
      return await this.#below(name, await openChild(entry), { flushed, byUs });
    } catch (error) {
      const path = join(this.path, name);
      throw (await inTheWay(error, entry, path)) ?? diskFailure(error, path);
    }
  }

  async #below(name: string, handle: FileHandle, birth: Birth): Promise<Directory> {
    // Whoever reports a file in it as saved waits for it, and hears of a failure.
    birth.flushed.catch(() => {});
    const path = join(this.path, name);
    const base = this.#base === this.path ? path : procPath(handle);
    const surroundings = this.#surroundings;
    const disk = birth.byUs ? this.disk : await Disk.under(base, surroundings.platform, surroundings.waiting);
    return new Directory({ path, handle, base, surroundings, disk, birth });
  }

  async #settleEntryOf(child: FileHandle): Promise<void> {
    const { ctimeMs } = await child.stat();
    await this.settle(ctimeMs);
  }

  /** The path of an entry for system calls: not for people. */
  entry(name: string): string {
    return `${this.#base}/${name}`;
  }

  /** The names of its entries, read some at a time. Throws what the system says. */
  names(): AsyncGenerator<string> {
    return allNames(this.entry('.'));
  }

  /**
   * The names in it as they were when first asked for, where they are few: that costs hardly more than a look at one
   * of them. Undefined where they are not, or can't be read.
   */
  few(): Promise<ReadonlySet<string> | undefined> {
    this.#few ??= this.isNew
      ? Promise.resolve(new Set<string>())
      : fewNames(this.#handle, this.entry('.')).catch(() => undefined);
    return this.#few;
  }

  /** Makes a new file under the first of the names that is free. Throws what the system says. */
  async create(nextName: () => string, mode: number): Promise<{ name: string; handle: OpenFile }> {
    for (let left = MOST_NAMES; ; left -= 1) {
      const name = nextName();
      try {
        return { name, handle: await this.disk.make(this.entry(name), mode) };
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST' || left === 0) throw error;
      }
    }
  }

  /** Flushes the directory's entries, and its own where that is new. Throws `local_io`. */
  async sync(): Promise<void> {
    await this.#entriesFlush.wait();
    await this.#birth.flushed;
  }

  /**
   * Until an entry that another run made is on disk, and the directory's own; `changed` is the ctime of what it leads to.
   * Throws `local_io`.
   */
  async settle(changed: number): Promise<void> {
    await this.#settled.wait(changed).catch((error) => {
      throw diskFailure(error, this.path);
    });
    await this.#birth.flushed;
  }

  /** When the one above is not needed any more for flushing this one's entry. Never throws. */
  async settled(): Promise<void> {
    await this.#birth.flushed.catch(() => {});
  }

  async #flush(): Promise<void> {
    await flushEntries(this.#handle).catch((error) => {
      throw diskFailure(error, this.path);
    });
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

function procPath({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

function openChild(entry: string): Promise<FileHandle> {
  return open(entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}
