import type { Directory } from '../../disk/directory.ts';
import { twinKey } from '../../disk/file-name.ts';
import { errnoOf } from '../../errors.ts';
import type { Placement } from '../job.ts';
import type { PartRun } from './leftovers.ts';
import { parsePartName, partName, stemOf } from './owner.ts';

/** `link` is not known to FAT and some network disks. */
const NO_LINKS = new Set(['EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);
/** A lock is held for a look and a rename. */
const POLL_MS = 20;
/** A lock that may still have an owner is abandoned when untouched for so long. Milliseconds. */
const LOCK_ABANDONED_MS = 600_000;

export interface OwnPart {
  readonly directory: Directory;
  readonly run: PartRun;
  readonly final: string;
  readonly id: string;
}

/**
 * `exclusive`: nothing may have the name yet. Throws what the system says,
 * `local_io`, the signal's reason.
 */
export async function commitPart(
  part: OwnPart,
  exclusive: boolean,
  signal: AbortSignal,
): Promise<Exclude<Placement, 'same'>> {
  const { directory, final } = part;
  try {
    if (!exclusive) await directory.disk.rename(pathOf(part), directory.entry(final));
    else if (!(await placeNew(part, signal))) return 'exists';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'partMissing';
    throw error;
  }
  return (await directory.flush()) ? 'committed' : 'partMissing';
}

export function pathOf({ directory, run, final, id }: OwnPart, kind?: 'lock'): string {
  return directory.entry(partName(stemOf(final), run.self, id, kind));
}

async function placeNew(part: OwnPart, signal: AbortSignal): Promise<boolean> {
  const { directory, final } = part;
  try {
    await directory.disk.link(pathOf(part), directory.entry(final));
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'EEXIST') return false;
    if (NO_LINKS.has(errno)) return placeUnderLock(part, signal);
    throw error;
  }
  await directory.disk.remove(pathOf(part));
  return true;
}

/**
 * Where the disk has no hard links: the part's own name becomes a lock, under which it looks and renames. Of two that
 * lock at once one at least sees the other, and withdraws.
 */
async function placeUnderLock(part: OwnPart, signal: AbortSignal): Promise<boolean> {
  const { directory, run } = part;
  const { disk } = directory;
  const [lock, final] = [pathOf(part, 'lock'), directory.entry(part.final)];
  for (;;) {
    await disk.rename(pathOf(part), lock);
    try {
      if (!(await hasRival(part))) {
        if (await disk.lstat(final)) return false;
        await disk.rename(lock, final);
        return true;
      }
    } finally {
      // Not there any more when it has got its name.
      await disk.rename(lock, pathOf(part)).catch(() => {});
    }
    await run.sleep(POLL_MS * (1 + run.random()), signal);
  }
}

async function hasRival({ directory, run, final, id }: OwnPart): Promise<boolean> {
  // The name of another file may be this one's in another spelling.
  const key = twinKey(stemOf(final));
  for await (const name of directory.names()) {
    const found = name.endsWith('.lock') ? parsePartName(name) : undefined;
    if (!found || found.id === id || twinKey(found.stem) !== key) continue;
    if (run.stateOf(found.owner) === 'ended') continue;
    const stats = await directory.disk.lstat(directory.entry(name));
    if (stats && run.now() - stats.mtimeMs < LOCK_ABANDONED_MS) return true;
  }
  return false;
}
