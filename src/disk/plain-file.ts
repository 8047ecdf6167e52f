import { close, constants, fstat, open, type Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errnoOf, FilingsError } from '../errors.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** No link is followed, and a FIFO holds nobody. */
const WARILY = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

const openAt = promisify(open) as (path: string | Buffer, flags: number) => Promise<number>;
const statOf = promisify<number, Stats>(fstat);

/** Closes a descriptor. */
export const closeFile: (fd: number) => Promise<void> = promisify(close);

/** A regular file that is open; whoever has it closes it. */
export interface OpenPlain {
  readonly fd: number;
  /** Of the open file, not of what has its name by now. */
  readonly stats: Stats;
}

/** Opens what has a name if it is a regular file; undefined when it is something else. Throws what the system says. */
export async function openPlain(path: string | Buffer, flags: number): Promise<OpenPlain | undefined> {
  const fd = await openAt(path, flags | WARILY);
  const stats = await statOf(fd).catch((error) => closeFile(fd).then(() => Promise.reject(error)));
  if (stats.isFile()) return { fd, stats };
  await closeFile(fd);
  return undefined;
}

/** Opens a file of our own: regular, this user's, with no second name. Undefined when it is missing, or another's. Never throws. */
export async function openOwn(path: string, flags: number, uid: number | undefined): Promise<OpenPlain | undefined> {
  const opened = await openPlain(path, flags).catch(() => undefined);
  if (!opened) return undefined;
  if (opened.stats.nlink === 1 && (uid === undefined || opened.stats.uid === uid)) return opened;
  await closeFile(opened.fd);
  return undefined;
}

/** Why something is no regular file; undefined when it is one. */
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
