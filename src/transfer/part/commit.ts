// Gives a complete part its final name, by `link` if the name must be new and by `rename` if an entry is replaced.
// Disks without hard links need a lock, because `rename` would silently replace a file that another run wrote
// meanwhile.
import type { Directory } from '../../disk/directory.ts';
import { twinKey } from '../../disk/file-name.ts';
import { errnoOf } from '../../errors.ts';
import type { Placement } from '../job.ts';
import type { PartRun } from './leftovers.ts';
import { parsePartName, partName, stemOf } from './owner.ts';

/** The errors of `link` on FAT and on some network disks, which have no hard links. */
const NO_LINKS = new Set(['EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);
/** The interval between two attempts to lock. A lock exists only for one lstat and one rename. Milliseconds. */
const POLL_MS = 20;
/** The age after which a lock is ignored although its run may still be alive. Milliseconds. */
const MIN_ABANDONED_LOCK_AGE_MS = 600_000;

/** A part of this run. */
export interface OwnPart {
  readonly directory: Directory;
  readonly run: PartRun;
  readonly finalName: string;
  readonly id: string;
}

/**
 * Gives a part its final name and flushes the directory. With `isExclusive`, an existing entry is not replaced. Returns
 * the placement. Throws the system error, `local_io` or the signal's reason.
 */
export async function commitPart(
  part: OwnPart,
  isExclusive: boolean,
  signal: AbortSignal,
): Promise<Exclude<Placement, 'same'>> {
  const { directory, finalName } = part;
  try {
    if (!isExclusive) await directory.disk.rename(pathOf(part), directory.pathFor(finalName));
    else if (!(await linkPart(part, signal))) return 'exists';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'partMissing';
    throw error;
  }
  return (await directory.flush()) ? 'committed' : 'partMissing';
}

/** Returns the path of a part, or of the lock that it becomes. */
export function pathOf({ directory, run, finalName, id }: OwnPart, kind?: 'lock'): string {
  return directory.pathFor(partName(stemOf(finalName), run.self, id, kind));
}

/** Returns false if an entry has the final name already. */
async function linkPart(part: OwnPart, signal: AbortSignal): Promise<boolean> {
  const { directory, finalName } = part;
  try {
    await directory.disk.link(pathOf(part), directory.pathFor(finalName));
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'EEXIST') return false;
    if (NO_LINKS.has(errno)) return renameUnderLock(part, signal);
    throw error;
  }
  await directory.disk.remove(pathOf(part));
  return true;
}

/**
 * Renames a part to its final name on a disk without hard links. The part's own name becomes a lock first. If two runs
 * lock at the same time, at least one of them sees the other's lock and tries later. Returns false if an entry has the
 * final name already.
 */
async function renameUnderLock(part: OwnPart, signal: AbortSignal): Promise<boolean> {
  const { directory, run } = part;
  const { disk } = directory;
  const [lockPath, finalPath] = [pathOf(part, 'lock'), directory.pathFor(part.finalName)];
  for (;;) {
    await disk.rename(pathOf(part), lockPath);
    try {
      if (!(await hasRival(part))) {
        if (await disk.lstat(finalPath)) return false;
        await disk.rename(lockPath, finalPath);
        return true;
      }
    } finally {
      // Fails if the part got its final name, and the lock is gone.
      await disk.rename(lockPath, pathOf(part)).catch(() => {});
    }
    await run.sleep(POLL_MS * (1 + run.random()), signal);
  }
}

/** Returns whether another run has a lock for the same name. */
async function hasRival({ directory, run, finalName, id }: OwnPart): Promise<boolean> {
  // A rival may spell the same name differently, which some disks take for one name.
  const key = twinKey(stemOf(finalName));
  for await (const name of directory.names()) {
    const lock = name.endsWith('.lock') ? parsePartName(name) : undefined;
    if (!lock || lock.id === id || twinKey(lock.stem) !== key) continue;
    if (run.stateOf(lock.owner) === 'ended') continue;
    const stats = await directory.disk.lstat(directory.pathFor(name));
    if (stats && run.now() - stats.mtimeMs < MIN_ABANDONED_LOCK_AGE_MS) return true;
  }
  return false;
}
