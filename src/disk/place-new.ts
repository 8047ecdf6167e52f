import { errnoOf } from '../errors.ts';
import type { Disk } from './calls/disk.ts';

/** `link` is not known to FAT and some network disks. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

/** Puts a file under a name that must be free. `no-links`: this disk can't do that in one step. Throws what the system says. */
export async function placeNew(disk: Disk, part: string, final: string): Promise<'placed' | 'taken' | 'no-links'> {
  try {
    await disk.link(part, final);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'EEXIST') return 'taken';
    if (NO_LINKS.has(errno)) return 'no-links';
    throw error;
  }
  await disk.unlink(part).catch((error) => {
    // The final name is what counts; a second one that is gone already is none.
    if (errnoOf(error) !== 'ENOENT') throw error;
  });
  return 'placed';
}
