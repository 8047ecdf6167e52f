import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readdir, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errnoOf } from '../../errors.ts';
import { diskFailure } from '../failure.ts';
import { Settled, settleDirectory } from '../settled.ts';
import { inTheWay } from './in-the-way.ts';
import { flushEntries, makeDirectories, makeFolder } from './make-directories.ts';
import { SharedFlush } from './shared-flush.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
/** Where owners can't be told apart, their names may be taken; so many in a row are no accident. */
const MOST_NAMES = 100;
/** So many entries are read at once: all that is ever in memory of a directory with a million. */
const ENTRIES_AT_ONCE = 1024;

/** What a directory of few entries has: some hundred names, on most disks. */
const FEW_BYTES = 16 << 10;
/** And where a size says nothing about entries. */
const FEW_NAMES = 1024;

/** How a directory came to be below another. */
interface Birth {
  /** Its entry is on disk then. */
  readonly flushed: Promise<void>;
  /** False: another run made it. */
  readonly byUs: boolean;
}

interface Opened {
  readonly path: string;
  readonly handle: FileHandle;
  readonly base: string;
  readonly now: () => number;
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
  /** What it was seen to tell apart, which `otherSpelling` need not ask again. */
  readonly tellsApart = { case: false, form: false };
  readonly #handle: FileHandle;
  readonly #base: string;
  readonly #birth: Birth;
  readonly #now: () => number;
  readonly #settled: Settled;
  readonly #entriesFlush = new SharedFlush(() => this.#flush());
  #few: Promise<ReadonlySet<string> | undefined> | undefined;

  private constructor({ path, handle, base, now, birth }: Opened) {
    this.path = path;
    this.#handle = handle;
    this.#base = base;
    this.#birth = birth;
    this.#now = now;
    this.isNew = birth.byUs;
    this.#settled = new Settled({ stat: () => handle.stat(), flush: () => this.#entriesFlush.wait(), now });
  }

  /** Opens a directory (links on the way to it are the user's own), making it first when it may be missing. Throws `local_io`. */
  static async open(path: string, make: boolean, now: () => number): Promise<Directory> {
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
      const flushed = make && absolute !== resolve('.') ? settleDirectory(absolute, now) : Promise.resolve();
      flushed.catch(() => {});
      return new Directory({
        path: absolute,
        handle,
        base: stable ? viaProc : absolute,
        now,
        birth: { flushed, byUs: false },
      });
    } catch (error) {
      throw diskFailure(error, absolute);
    }
  }

  /**
   * Opens the directory of that name in this one, making it first when it may be missing; no link is followed. Throws
   * `local_io`: for this name alone when something else has it. A new one's flush needs this one open (`settled`).
   */
  async child(name: string, make: boolean): Promise<Directory> {
    const path = join(this.path, name);
    const entry = this.entry(name);
    const below = (handle: FileHandle, flushed: Promise<void>, byUs: boolean) => {
      // Whoever reports a file in it as saved waits for it, and hears of a failure.
      flushed.catch(() => {});
      const base = this.#base === this.path ? path : procPath(handle);
      return new Directory({ path, handle, base, now: this.#now, birth: { flushed, byUs } });
    };
    try {
      const there = await openChild(entry).catch((error) => {
        if (!make || errnoOf(error) !== 'ENOENT') throw error;
      });
      if (there)
        return below(
          there,
          there.stat().then(({ ctimeMs }) => this.settle(ctimeMs)),
          false,
        );
      const byUs = await makeFolder(entry);
      const flushed = this.sync();
      flushed.catch(() => {});
      return below(await openChild(entry), flushed, byUs);
    } catch (error) {
      throw (await inTheWay(error, entry, path)) ?? diskFailure(error, path);
    }
  }

  /** The path of an entry for system calls: not for people. */
  entry(name: string): string {
    return `${this.#base}/${name}`;
  }

  /** The names of its entries, read some at a time. Throws what the system says. */
  async *names(): AsyncGenerator<string> {
    for await (const { name } of await opendir(this.entry('.'), { bufferSize: ENTRIES_AT_ONCE })) yield name;
  }

  /**
   * The names in it as they were when first asked for, where they are few: that costs hardly more than a look at one
   * of them. Undefined where they are not, or can't be read.
   */
  few(): Promise<ReadonlySet<string> | undefined> {
    this.#few ??= this.isNew ? Promise.resolve(new Set<string>()) : this.#readFew().catch(() => undefined);
    return this.#few;
  }

  async #readFew(): Promise<ReadonlySet<string> | undefined> {
    const { size } = await this.#handle.stat();
    if (size > FEW_BYTES) return undefined;
    const names = await readdir(this.entry('.'));
    return names.length > FEW_NAMES ? undefined : new Set(names);
  }

  /**
   * The time by the file system's own clock, which on a network disk is another machine's: that of a file made
   * for it, and gone again. `probe` names it. Undefined when none can be made.
   */
  async clock(probe: () => string): Promise<Date | undefined> {
    const made = await this.create(probe, 0o600).catch(() => undefined);
    if (!made) return undefined;
    try {
      return (await made.handle.stat()).mtime;
    } catch {
      return undefined;
    } finally {
      await made.handle.close().catch(() => {});
      await unlink(this.entry(made.name)).catch(() => {});
    }
  }

  /** Makes a new file under the first of the names that is free. Throws what the system says. */
  async create(nextName: () => string, mode: number): Promise<{ name: string; handle: FileHandle }> {
    for (let left = MOST_NAMES; ; left -= 1) {
      const name = nextName();
      try {
        return { name, handle: await open(this.entry(name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode) };
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
