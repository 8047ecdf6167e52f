import { constants, type Stats } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { undefinedIfMissing } from './calls.ts';
import { diskFailure } from './failure.ts';

/**
 * Each new entry is flushed. Step by step: Node's recursive mkdir never returns on a path such as /proc/nope. Throws
 * `local_io`.
 */
export async function makeDirectories(absolute: string, mode?: number): Promise<void> {
  const missing: string[] = [];
  let path = absolute;
  try {
    for (; !(await stat(path).catch(undefinedIfMissing)); path = dirname(path)) missing.unshift(path);
    for (path of missing) if (await makeDirectory(path, mode)) await flushDirectory(dirname(path));
  } catch (error) {
    throw diskFailure(error, path);
  }
}

/** Its entry is not flushed. False when something has its name already. Throws what the system says. */
export async function makeDirectory(path: string, mode?: number): Promise<boolean> {
  try {
    await mkdir(path, mode);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Gives what directory that was. Throws what the system says. */
export async function flushDirectory(path: string): Promise<Stats> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    // Some file systems know no flush of a directory.
    await handle.sync().catch((error) => {
      if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(errnoOf(error) ?? '')) throw error;
    });
    return await handle.stat();
  } finally {
    await handle.close();
  }
}
