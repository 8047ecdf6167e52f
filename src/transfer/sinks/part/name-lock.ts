import { lstat, open, rename, unlink } from 'node:fs/promises';
import { sleep } from '../../../abort.ts';
import { twinKey } from '../../../disk/file-name.ts';
import { ABANDONED_MS } from '../../../disk/owner/owner.ts';
import { errnoOf } from '../../../errors.ts';
import { namesOf, parsePartName, stemOf } from './part-name.ts';
import type { PartPlace } from './part-place.ts';

/** A lock is held for a look and a rename. */
const POLL_MS = 20;

/**
 * Puts a part under a name that must be free where the disk has no hard links: locks the name, looks, renames,
 * unlocks. Nothing but the whole file is ever under the final name. False when something stands there.
 * Throws what the system says, the signal's reason.
 */
export async function placeUnderLock(place: PartPlace, base: string, signal: AbortSignal): Promise<boolean> {
  const { directory, final } = place;
  const { part, lock: mine } = namesOf(base);
  const lock = directory.entry(mine);
  for (;;) {
    while ((await rivalsOf(place, mine)).length > 0) await sleep(POLL_MS, signal);
    await layLock(lock);
    try {
      if (await prevails(place, mine, signal)) return await renameIfFree(directory.entry(part), directory.entry(final));
    } finally {
      await unlink(lock).catch(() => {});
    }
  }
}

/** Whoever has the part has its lock, too: one that is there is of a dead run that had the same name. */
async function layLock(lock: string): Promise<void> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Each lock has its owner's name, so a dead one can be removed without hitting another. Whoever sees another lock
 * beside his own does not go on: the greater name withdraws, the lesser waits for that.
 */
async function prevails(place: PartPlace, mine: string, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const rivals = await rivalsOf(place, mine);
    if (rivals.length === 0) return true;
    if (rivals.some((rival) => rival < mine)) return false;
    await sleep(POLL_MS, signal);
  }
}

/** The locks of other runs that live; dead ones go. */
async function rivalsOf({ directory, leftovers, final }: PartPlace, mine: string): Promise<string[]> {
  const key = twinKey(stemOf(final));
  const rivals: string[] = [];
  for await (const name of directory.names()) {
    const found = name.endsWith('.lock') && name !== mine ? parsePartName(name) : undefined;
    // The name of another file on this disk may be this one's in another spelling.
    if (!found || twinKey(found.stem) !== key) continue;
    const stats = await lstat(directory.entry(name)).catch(() => undefined);
    if (!stats) continue;
    const now = await leftovers.clock(final);
    const old = now !== undefined && now.getTime() - stats.mtimeMs >= ABANDONED_MS;
    if (!old && leftovers.standingOf(found.owner, stats, now) === 'alive') rivals.push(name);
    else await unlink(directory.entry(name)).catch(() => {});
  }
  return rivals;
}

async function renameIfFree(part: string, final: string): Promise<boolean> {
  try {
    await lstat(final);
    return false;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  await rename(part, final);
  return true;
}
