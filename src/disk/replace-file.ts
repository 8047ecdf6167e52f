import { randomBytes } from 'node:crypto';
import { mkdir, open, realpath, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { diskFailure } from './failure.ts';

/**
 * Puts text in the place of a file, whole or not at all, readable by its owner alone from the first byte on.
 * A link is followed: what it points to is replaced. Missing folders are made for their owner alone.
 * @throws FilingsError `local_io`
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  try {
    const target = await realpath(path).catch(() => path);
    const folder = dirname(target);
    await makeFolder(folder);
    await replace(target, folder, text);
  } catch (error) {
    throw diskFailure(error, path);
  }
}

async function replace(target: string, folder: string, text: string): Promise<void> {
  const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  const handle = await open(temporary, 'wx', 0o600);
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
  const directory = await open(folder, 'r');
  await directory.sync().finally(() => directory.close());
}

/** One after the other: Node's recursive mkdir never returns on some paths. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, 0o700);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return;
    if (errnoOf(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder, 0o700);
  }
}
