import { randomBytes } from 'node:crypto';
import { open, readlink, realpath, rename, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errnoOf } from '../errors.ts';
import { diskFailure } from './failure.ts';
import { flushDirectory, makeDirectories } from './make-directories.ts';
import { requireReplaceable } from './plain-file.ts';

/**
 * Puts text in the place of a file, whole or not at all, readable by its owner alone from the first byte on unless `mode`
 * says otherwise. A link is followed: what it points to is replaced, or made. Missing directories are made, for those who may read the file.
 * `elsewhere` says how to choose another place.
 * @throws FilingsError `local_io`
 */
export async function replaceFile(path: string, text: string, elsewhere: string, mode = 0o600): Promise<void> {
  try {
    const target = await targetOf(path);
    await requireReplaceable(target);
    // Who may read it may enter.
    await makeDirectories(dirname(target), { mode: mode | ((mode & 0o444) >> 2), elsewhere });
    await replace(target, text, mode);
  } catch (error) {
    throw diskFailure(error, path, elsewhere);
  }
}

/** Where a link leads, also when nothing is there. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const link = await readlink(path).catch(() => undefined);
    return link === undefined ? path : targetOf(resolve(await realpath(dirname(path)), link));
  }
}

async function replace(target: string, text: string, mode: number): Promise<void> {
  const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  const handle = await open(temporary, 'wx', mode);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await flushDirectory(dirname(target));
}
