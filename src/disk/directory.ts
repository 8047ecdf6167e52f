import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { diskFailure } from './failure.ts';
import { flushEntries, makeDirectories } from './folders.ts';

const { O_DIRECTORY, O_RDONLY } = constants;

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
