import { constants } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { OPEN_TO_FLUSH, undefinedIfMissing } from './calls.ts';
import { diskError } from './failure.ts';

/**
 * Creates a directory and those above it, and flushes each new entry. Does not use Node's recursive mkdir, which never
 * returns on a path such as /proc/nope. Throws `local_io`.
 */
export async function makeDirectories(absolute: string, mode?: number): Promise<void> {
  const missing: string[] = [];
  let path = absolute;
  try {
    for (; !(await stat(path).catch(undefinedIfMissing)); path = dirname(path)) {
      missing.unshift(path);
      // A missing drive of Windows cannot be created, and has no directory above.
      if (dirname(path) === path) break;
    }
    for (path of missing) if (await makeDirectory(path, mode)) await flushDirectory(dirname(path));
  } catch (error) {
    throw diskError(error, path);
  }
}

/** Creates a directory without a flush. Returns false if an entry has its name already. Throws the system error. */
export async function makeDirectory(path: string, mode?: number): Promise<boolean> {
  try {
    await mkdir(path, mode);
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
