import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { errnoOf, FilingsError } from '../errors.ts';
import type { Disk } from './calls/disk.ts';
import type { OpenFile } from './calls/open-file.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Who may write to a directory chooses what stands in it: no link is followed, and a FIFO holds nobody. */
const WARILY = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/** Opens what stands under a name if it is a plain file; undefined when it is something else. Throws what the system says. */
export async function openPlain(
  path: string,
  flags: number,
): Promise<{ handle: FileHandle; stats: Stats } | undefined> {
  const handle = await open(path, flags | WARILY);
  try {
    const stats = await handle.stat();
    if (stats.isFile()) return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** Opens a file of our own: plain, this user's, with no second name. Undefined when it is not there, or another's. Never throws. */
export async function openOwn(path: string, flags: number, uid: number | undefined): Promise<FileHandle | undefined> {
  const opened = await openPlain(path, flags).catch(() => undefined);
  if (!opened) return undefined;
  const { handle, stats } = opened;
  if (stats.nlink === 1 && (uid === undefined || stats.uid === uid)) return handle;
  await handle.close();
  return undefined;
}

/** Whether a name is still that of an open file. Throws what the system says. */
export async function isNamed(disk: Disk, path: string, file: Pick<OpenFile, 'stat'>): Promise<boolean> {
  const named = await disk.look(path);
  const open = await file.stat();
  return named?.ino === open.ino && named.dev === open.dev;
}

/** Why something is no plain file; undefined when it is one. */
export function whyNotPlain(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  return stats.isDirectory() ? 'it is a directory' : 'it is no plain file';
}

/** What is about to be replaced is a plain file, a link, or nothing: a rename would take a device or a FIFO away from everybody. */
export async function requireReplaceable(path: string): Promise<void> {
  const there = await lstat(path).catch((error) => {
    if (errnoOf(error) !== 'ENOENT') throw error;
  });
  const why = there && !there.isSymbolicLink() ? whyNotPlain(there) : undefined;
  if (why === undefined) return;
  throw new FilingsError('local_io', `${path}: cannot write: ${why}`, { hint: 'name a file' });
}
