import { link, open, rename, unlink } from 'node:fs/promises';
import { errnoOf } from '../errors.ts';

/** `link` is not known to FAT and some network disks. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

/** Puts a file under a name that must be free; false when it is not. */
export async function placeNew(part: string, final: string): Promise<boolean> {
  try {
    await link(part, final);
    await unlink(part);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return drop(part);
    if (!NO_LINKS.has(errnoOf(error) ?? '')) throw error;
    return placeReserved(part, final);
  }
}

/** Without links: reserves the final name with an empty file, then renames over it. */
async function placeReserved(part: string, final: string): Promise<boolean> {
  try {
    await (await open(final, 'wx')).close();
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return drop(part);
    throw error;
  }
  try {
    await rename(part, final);
    return true;
  } catch (error) {
    await unlink(final);
    throw error;
  }
}

async function drop(part: string): Promise<false> {
  await unlink(part).catch(() => {});
  return false;
}
