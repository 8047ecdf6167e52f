// Creates directories, and flushes the entries of one.
import { constants, existsSync, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { OPEN_TO_FLUSH } from './calls.ts';

/**
 * Creates a directory and those above it. Returns those that it made, from the top; the caller flushes their entries.
 * Does not use Node's recursive mkdir, which never returns on a path such as /proc/nope. Throws the system error.
 */
export function makeDirectories(absolute: string, mode?: number): readonly string[] {
  const missing: string[] = [];
  // A missing drive of Windows cannot be created, and has no directory above.
  for (let path = absolute; !existsSync(path) && dirname(path) !== path; path = dirname(path)) missing.unshift(path);
  return missing.filter((path) => makeDirectory(path, mode));
}

/** Creates a directory without a flush. Returns false if an entry has its name already. Throws the system error. */
export function makeDirectory(path: string, mode?: number): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Flushes the entries of a directory. Throws the system error. */
export async function flushDirectory(path: string): Promise<void> {
  const handle = await open(path, OPEN_TO_FLUSH | constants.O_DIRECTORY).catch(undefinedIfNotFlushed);
  await handle
    ?.sync()
    .catch(undefinedIfNotFlushed)
    .finally(() => handle.close());
}

/**
 * Some file systems cannot flush a directory, and Windows refuses the flush to users who may not write to the
 * directory.
 */
function undefinedIfNotFlushed(error: unknown): undefined {
  const refusals = ['EINVAL', 'ENOTSUP', 'EBADF', ...(OPEN_TO_FLUSH === constants.O_RDWR ? ['EPERM', 'EACCES'] : [])];
  if (!refusals.includes(errnoOf(error) ?? '')) throw error;
}
