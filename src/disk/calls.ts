import {
  close,
  closeSync,
  constants,
  fstat,
  link,
  linkSync,
  lstat,
  lstatSync,
  open,
  openSync,
  read,
  rename,
  renameSync,
  type Stats,
  statfs,
  unlink,
  unlinkSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { createAbortController, type Sleep } from '../abort.ts';
import { errnoOf } from '../errors.ts';
import type { World } from '../world.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
const NEW = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

/** For a file or directory that is opened only to be flushed. Windows, which has no O_DIRECTORY, flushes what can be written. */
export const OPEN_TO_FLUSH = O_DIRECTORY === undefined ? O_RDWR : O_RDONLY;

/**
 * File systems on this machine, by Linux's numbers (statfs(2), linux/magic.h). Where one of these hangs, a thread of
 * the pool hangs in the kernel just as well.
 */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0xca451a4e, // bcachefs
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlayfs, in containers
]);

// By the pool of threads. Errors of all calls are the system's own.
export const openFile = promisify(open) as (path: string | Buffer, flags: number, mode?: number) => Promise<number>;
export const closeFile: (fd: number) => Promise<void> = promisify(close);
export const readAt = promisify(read);
export const statOf = promisify<number, Stats>(fstat);
const lookAt = promisify<string, Stats>(lstat);
const removeAt = promisify(unlink);
const diskAt = promisify(statfs);

/** System calls on names. */
export interface Disk {
  readonly isLocal: boolean;
  /** Makes a file that must not exist, open for reading and writing. */
  create(path: string, mode: number): Promise<number>;
  close(fd: number): Promise<void>;
  /** No link is followed. */
  lstat(path: string): Promise<Stats | undefined>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
}

/** To hand a call to the pool costs ten times the call itself, so on a local disk it is made at once. */
export const SYNC_FS: Disk = {
  isLocal: true,
  create: async (path, mode) => openSync(path, NEW, mode),
  close: async (fd) => closeSync(fd),
  lstat: async (path) => lstatSync(path, { throwIfNoEntry: false }),
  link: async (from, to) => linkSync(from, to),
  rename: async (from, to) => renameSync(from, to),
  remove: (path) => (async () => unlinkSync(path))().catch(undefinedIfMissing),
};

export const ASYNC_FS: Disk = {
  isLocal: false,
  create: (path, mode) => openFile(path, NEW, mode),
  close: closeFile,
  lstat: (path) => lookAt(path).catch(undefinedIfMissing),
  link: promisify(link),
  rename: promisify(rename),
  remove: (path) => removeAt(path).catch(undefinedIfMissing),
};

/** Only Linux tells what disk it is. Never throws. */
export async function diskUnder(
  directory: string,
  { platform, sleep }: Pick<World, 'platform' | 'sleep'>,
): Promise<Disk> {
  if (platform === 'win32') return patientDisk(sleep);
  const found = platform === 'linux' ? await diskAt(directory).catch(() => undefined) : undefined;
  // Some systems give the type with a sign.
  return found && LOCAL.has(found.type >>> 0) ? SYNC_FS : ASYNC_FS;
}

/** What Windows says of a file that another program has open. */
const HELD: ReadonlySet<string | undefined> = new Set(['EPERM', 'EACCES', 'EBUSY']);
const HELD_POLL_MS = 50;
const MAX_HELD_MS = 1000;

/** A disk of Windows, where a virus scanner may have a new file open for a moment, which then can't be renamed. */
function patientDisk(sleep: Sleep): Disk {
  return {
    ...ASYNC_FS,
    link: (from, to) => whileHeld(() => ASYNC_FS.link(from, to), sleep),
    rename: (from, to) => renameHeld(from, to, sleep),
    remove: (path) => whileHeld(() => ASYNC_FS.remove(path), sleep),
  };
}

/**
 * Renames as a disk of Windows does. Throws the system error, whose code is `EINUSE` if another program has the file open
 * that would be replaced.
 */
export async function renameHeld(from: string, to: string, sleep: Sleep): Promise<void> {
  try {
    await whileHeld(() => ASYNC_FS.rename(from, to), sleep);
  } catch (error) {
    // Windows says the same of a file that is read-only.
    const isWritable = HELD.has(errnoOf(error)) && ((await ASYNC_FS.lstat(to))?.mode ?? 0) & 0o200;
    throw isWritable ? Object.assign(new Error('in use', { cause: error }), { code: 'EINUSE' }) : error;
  }
}

/** Repeats a call that fails because another program has a file open, for up to one second. */
export async function whileHeld<T>(call: () => Promise<T>, sleep: Sleep): Promise<T> {
  const { signal } = createAbortController();
  for (let waited = 0; ; waited += HELD_POLL_MS) {
    try {
      return await call();
    } catch (error) {
      if (!HELD.has(errnoOf(error)) || waited >= MAX_HELD_MS) throw error;
    }
    await sleep(HELD_POLL_MS, signal);
  }
}

/** For `catch`: what does not exist is no failure. */
export function undefinedIfMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

/** A write may stop short before it fails. */
export function behind(chunks: readonly Buffer[], written: number): readonly Buffer[] {
  let skipped = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (skipped + chunk.length > written) return [chunk.subarray(written - skipped), ...chunks.slice(index + 1)];
    skipped += chunk.length;
  }
  return [];
}
