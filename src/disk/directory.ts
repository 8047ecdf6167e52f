import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errnoOf } from '../errors.ts';
import { diskFailure } from './failure.ts';
import { flushEntries, makeDirectories } from './make-directories.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
/** Where owners can't be told apart, their names may be taken; so many in a row are no accident. */
const MOST_NAMES = 100;

/**
 * A directory held open, so that a path swapped for a link meanwhile changes nothing:
 * on Linux its entries are reached through `/proc/self/fd`, elsewhere by path.
 */
export class Directory {
  /** Absolute, for people. */
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #base: string;
  #syncing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  private constructor(path: string, handle: FileHandle, base: string) {
    this.path = path;
    this.#handle = handle;
    this.#base = base;
  }

  /** Opens a directory (links on the way to it are the user's own), making it first when it may be missing. Throws `local_io`. */
  static async open(path: string, make: boolean): Promise<Directory> {
    const absolute = resolve(path);
    if (make) await makeDirectories(absolute);
    return Directory.#hold(absolute);
  }

  static async #hold(path: string): Promise<Directory> {
    try {
      const handle = await open(path, O_RDONLY | O_DIRECTORY);
      const viaProc = `/proc/self/fd/${handle.fd}`;
      const stable = await lstat(`${viaProc}/.`).then(
        () => true,
        () => false,
      );
      return new Directory(path, handle, stable ? viaProc : path);
    } catch (error) {
      throw diskFailure(error, path);
    }
  }

  /** The path of an entry for system calls: not for people. */
  entry(name: string): string {
    return `${this.#base}/${name}`;
  }

  /** The names of its entries. Throws what the system says. */
  names(): Promise<string[]> {
    return readdir(this.entry('.'));
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

  /** Flushes the directory's entries; callers that come while one flush runs share the next. */
  sync(): Promise<void> {
    if (!this.#syncing) {
      this.#syncing = this.#flush().finally(() => {
        this.#syncing = undefined;
      });
      return this.#syncing;
    }
    this.#next ??= this.#syncing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.sync();
      });
    return this.#next;
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
