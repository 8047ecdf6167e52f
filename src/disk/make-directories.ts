// Creates directories, and flushes the entries of a directory. The two are separate calls, so that all files of a run
// can share the flushes: see `directory.ts`.
import { constants, existsSync, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { OPEN_TO_FLUSH } from './calls.ts';

/**
 * Creates a directory and all missing ones above it. Returns the new ones from the top down, so that the caller can
 * flush the entry of each in its parent. A path that exists but is not a directory is no error here.
 *
 * Node's recursive `mkdir` cannot be used, because it never returns for a path such as /proc/nope.
 */
export function makeDirectories(absolutePath: string, mode?: number): readonly string[] {
  const missing: string[] = [];
  // The second condition ends the loop at a drive of Windows that does not exist, because its `dirname` is itself.
  for (let path = absolutePath; !existsSync(path) && dirname(path) !== path; path = dirname(path))
    missing.unshift(path);
  // Leaves out those that another process has created in the meantime: they are not new.
  return missing.filter((path) => makeDirectory(path, mode));
}

/** Returns false if the name already exists, whatever it is. */
export function makeDirectory(path: string, mode?: number): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Flushes the entries of a directory, if the file system and its permissions allow that. */
export async function flushDirectory(path: string): Promise<void> {
  // O_DIRECTORY is undefined on Windows, and `|` treats that as 0.
  const handle = await open(path, OPEN_TO_FLUSH | constants.O_DIRECTORY).catch(undefinedIfUnsupported);
  await handle
    ?.sync()
    .catch(undefinedIfUnsupported)
    .finally(() => handle.close());
}

/**
 * A user who may not read a directory cannot flush it, and on Windows, where OPEN_TO_FLUSH is O_RDWR, one who may not
 * write to it.
 */
function undefinedIfUnsupported(error: unknown): undefined {
  if (!['EINVAL', 'ENOTSUP', 'EBADF', 'EPERM', 'EACCES'].includes(errnoOf(error) ?? '')) throw error;
}
