import { constants, read, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import type { Directory } from '../../disk/directory.ts';
import { twinKey } from '../../disk/file-name.ts';
import { closeFile, openPlain } from '../../disk/plain-file.ts';
import type { WrittenFile } from '../../disk/written-file.ts';
import { errnoOf } from '../../errors.ts';
import type { PartRun } from './leftovers.ts';
import { parsePartName, partName, stateOf, stemOf } from './owner.ts';

/** `link` is not known to FAT and some network disks. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);
/** A lock is held for a look and a rename. */
const POLL_MS = 20;
/** One that may still have an owner is taken for abandoned after so long. Milliseconds. */
const LOCK_ABANDONED_MS = 600_000;

/** A part of this run, and the name that it is to get. */
export interface OwnPart {
  readonly directory: Directory;
  readonly run: PartRun;
  readonly final: string;
  readonly id: string;
}

/** `taken`: something had the name already; `lost`: the part's name, or its directory, is not there any more. */
export type Placement = 'placed' | 'taken' | 'lost';

/**
 * Gives a part its final name in one step, and flushes the directory; `exclusive`: nothing may have the name yet. Throws
 * what the system says, `local_io`, the signal's reason.
 */
export async function place(part: OwnPart, exclusive: boolean, signal: AbortSignal): Promise<Placement> {
  const { directory, final } = part;
  try {
    if (!exclusive) await directory.disk.rename(pathOf(part), directory.entry(final));
    else if (!(await placeNew(part, signal))) return 'taken';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'lost';
    throw error;
  }
  return (await directory.flush()) ? 'placed' : 'lost';
}

/** The path of a part. */
export function pathOf({ directory, run, final, id }: OwnPart): string {
  return directory.entry(partName(stemOf(final), run.self, id));
}

/** False when something has the name. */
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

/** Where the disk has no hard links: locks the name, looks, renames, unlocks. */
async function placeUnderLock(part: OwnPart, signal: AbortSignal): Promise<boolean> {
  const { directory, run, final, id } = part;
  const { disk } = directory;
  const mine = partName(stemOf(final), run.self, id, 'lock');
  for (;;) {
    while ((await rivalsOf(part, mine)).length > 0) await part.run.sleep(POLL_MS, signal);
    await disk.close(await disk.create(directory.entry(mine), 0o600));
    try {
      if (!(await prevails(part, mine, signal))) continue;
      if (await disk.look(directory.entry(final))) return false;
      await disk.rename(pathOf(part), directory.entry(final));
      return true;
    } finally {
      await disk.remove(directory.entry(mine));
    }
  }
}

/**
 * Each lock has its owner's name, so that a dead one can be removed without hitting another. Whoever sees another lock
 * beside his own waits: the greater name withdraws, the lesser waits for that.
 */
async function prevails(part: OwnPart, mine: string, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const rivals = await rivalsOf(part, mine);
    if (rivals.length === 0) return true;
    if (rivals.some((rival) => rival < mine)) return false;
    await part.run.sleep(POLL_MS, signal);
  }
}

/** The locks of other runs that live; dead ones go. */
async function rivalsOf({ directory, run, final }: OwnPart, mine: string): Promise<string[]> {
  // The name of another file may be this one's in another spelling.
  const key = twinKey(stemOf(final));
  const rivals: string[] = [];
  for await (const name of directory.names()) {
    const found = name.endsWith('.lock') && name !== mine ? parsePartName(name) : undefined;
    if (found?.kind !== 'lock' || twinKey(found.stem) !== key) continue;
    const stats = await directory.disk.look(directory.entry(name));
    if (!stats) continue;
    const isOld = run.now() - stats.mtimeMs >= LOCK_ABANDONED_MS;
    if (!isOld && stateOf(found.owner, run.self, run.processAt) !== 'ended') rivals.push(name);
    else await directory.disk.remove(directory.entry(name));
  }
  return rivals;
}

const readAt = promisify(read);

/** Whether the file at a path is a regular one with the bytes that were written. Throws what the system says, the signal's reason. */
export async function hasSameBytes(written: WrittenFile, path: string, signal: AbortSignal): Promise<boolean> {
  const opened = await openPlain(path, constants.O_RDONLY);
  if (!opened) return false;
  const { fd, stats } = opened;
  try {
    if (stats.size !== written.size) return false;
    let position = 0;
    for await (const chunk of written.read()) {
      signal.throwIfAborted();
      const other = Buffer.allocUnsafe(chunk.length);
      const { bytesRead } = await readAt(fd, other, 0, chunk.length, position);
      if (bytesRead !== chunk.length || !chunk.equals(other)) return false;
      position += chunk.length;
    }
    return true;
  } finally {
    await closeFile(fd);
  }
}

/**
 * The permissions that stay when a file is replaced, as with the shell's `>`; undefined: those of a new file.
 * Another user's file says nothing about who may change ours; another group may do no more than everybody.
 */
export function keptMode(
  old: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  part: Pick<Stats, 'uid' | 'gid'>,
): number | undefined {
  if (old.uid !== part.uid) return undefined;
  const mode = old.mode & 0o777;
  return old.gid === part.gid ? mode : (mode & 0o707) | ((mode & 0o007) << 3);
}
