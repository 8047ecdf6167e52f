import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { diskFailure } from './failure.ts';

const { O_DIRECTORY, O_RDONLY } = constants;

/** What a new directory is like, and what to do when it can't be made. */
export interface DirectoryOptions {
  readonly mode?: number;
  readonly elsewhere?: string;
}

/**
 * Makes a directory, and those above it that are missing; each new entry is flushed.
 * Step by step: Node's recursive mkdir never returns on a path such as /proc/nope. Throws `local_io`.
 */
export async function makeDirectories(absolute: string, { mode, elsewhere }: DirectoryOptions = {}): Promise<void> {
  const missing: string[] = [];
  let path = absolute;
  try {
    for (; !(await exists(path)); path = dirname(path)) missing.unshift(path);
    for (path of missing) if (await makeDirectory(path, mode)) await flushDirectory(dirname(path));
  } catch (error) {
    throw diskFailure(error, path, elsewhere);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Makes one directory, whose entry is not flushed. False when something has its name already. Throws what the system says. */
export async function makeDirectory(path: string, mode?: number): Promise<boolean> {
  try {
    await mkdir(path, mode);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Flushes a directory's entries. Throws what the file system says. */
export async function flushDirectory(path: string): Promise<void> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY);
  await flushEntries(handle).finally(() => handle.close());
}

/** Flushes the entries of a directory that is open. Throws what the file system says. */
export async function flushEntries(directory: FileHandle): Promise<void> {
  // Some file systems know no flush of a directory; then there is none to wait for.
  await directory.sync().catch((error) => {
    if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(errnoOf(error) ?? '')) throw error;
  });
}

/** A flush that many wait for: whoever comes while one runs shares the next with all who come till then. */
export class SharedFlush<T> {
  readonly #flush: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(flush: () => Promise<T>) {
    this.#flush = flush;
  }

  /** What a flush gives that has begun after this call. Throws what it throws. */
  wait(): Promise<T> {
    if (!this.#running) {
      this.#running = this.#flush().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        this.#next = undefined;
        return this.wait();
      });
    return this.#next;
  }
}
