import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errnoOf } from '../errors.ts';
import { diskFailure } from './failure.ts';

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
    await flush(this.#handle).catch((error) => {
      throw diskFailure(error, this.path);
    });
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** Step by step: Node's recursive mkdir never returns on a path such as /proc/nope. Each new entry is flushed. */
async function makeDirectories(absolute: string): Promise<void> {
  const missing: string[] = [];
  let path = absolute;
  try {
    while (!(await makeOne(path))) {
      missing.push(path);
      path = dirname(path);
    }
    for (path of missing.reverse())
      await mkdir(path)
        .catch(unlessExists)
        .then(() => flushEntry(path));
  } catch (error) {
    throw diskFailure(error, path);
  }
}

/** False when the directory above is missing too. */
async function makeOne(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    await flushEntry(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' && path !== '/') return false;
    unlessExists(error);
    return true;
  }
}

/** Flushes the directory in which a path is entered. */
async function flushEntry(path: string): Promise<void> {
  const handle = await open(dirname(path), O_RDONLY | O_DIRECTORY);
  await flush(handle).finally(() => handle.close());
}

async function flush(handle: FileHandle): Promise<void> {
  // Some file systems know no flush of a directory; then there is none to wait for.
  await handle.sync().catch((error) => {
    if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(errnoOf(error) ?? '')) throw error;
  });
}

function unlessExists(error: unknown): void {
  if (errnoOf(error) !== 'EEXIST') throw error;
}
