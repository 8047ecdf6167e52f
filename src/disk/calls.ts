// The system calls that this program makes on files, and the choice between synchronous and asynchronous calls for a
// disk.
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

/**
 * Opens a file or directory only to flush it. Windows, which has no O_DIRECTORY, flushes only descriptors for writing.
 */
export const OPEN_TO_FLUSH = O_DIRECTORY === undefined ? O_RDWR : O_RDONLY;

/**
 * File systems on this machine, by Linux's numbers (statfs(2), linux/magic.h). If one of these hangs, asynchronous
 * calls do not help, because a thread of the pool hangs in the kernel too.
 */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
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

// These calls run in the thread pool. They throw the system error.
export const openFile = promisify(open) as (path: string | Buffer, flags: number, mode?: number) => Promise<number>;
export const closeFile: (fd: number) => Promise<void> = promisify(close);
export const readAt = promisify(read);
export const statOf = promisify<number, Stats>(fstat);
const lstatPath = promisify<string, Stats>(lstat);
const unlinkPath = promisify(unlink);
const statFileSystem = promisify(statfs);

/** System calls on paths. They throw the system error. */
export interface Disk {
  readonly isLocal: boolean;
  /** Creates a file that must not exist. Returns a descriptor for reading and writing. */
  create(path: string, mode: number): Promise<number>;
  close(fd: number): Promise<void>;
  /** Returns undefined if the path does not exist. Does not follow a symbolic link. */
  lstat(path: string): Promise<Stats | undefined>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file. Does not fail if the file is missing. */
  remove(path: string): Promise<void>;
}

/** Synchronous calls for local disks, where a call in the thread pool takes ten times as long. */
export const SYNC_FS: Disk = {
  isLocal: true,
  create: async (path, mode) => openSync(path, NEW, mode),
  close: async (fd) => closeSync(fd),
  lstat: async (path) => lstatSync(path, { throwIfNoEntry: false }),
  link: async (from, to) => linkSync(from, to),
  rename: async (from, to) => renameSync(from, to),
  remove: async (path) => {
    try {
      unlinkSync(path);
    } catch (error) {
      undefinedIfMissing(error);
    }
  },
};

/** Calls in the thread pool, for network disks, which may hang. */
export const ASYNC_FS: Disk = {
  isLocal: false,
  create: (path, mode) => openFile(path, NEW, mode),
  close: closeFile,
  lstat: (path) => lstatPath(path).catch(undefinedIfMissing),
  link: promisify(link),
  rename: promisify(rename),
  remove: (path) => unlinkPath(path).catch(undefinedIfMissing),
};

/** Returns the calls for the disk of a directory. Only Linux reports the type of a disk. Never throws. */
export async function selectDisk(
  directory: string,
  { platform, sleep }: Pick<World, 'platform' | 'sleep'>,
): Promise<Disk> {
  if (platform === 'win32') return windowsDisk(sleep);
  const stats = platform === 'linux' ? await statFileSystem(directory).catch(() => undefined) : undefined;
  // Some systems return the type as a signed number.
  return stats && LOCAL_TYPES.has(stats.type >>> 0) ? SYNC_FS : ASYNC_FS;
}

/** The errors of Windows for a file that another program has open. */
const IN_USE_ERRORS: ReadonlySet<string | undefined> = new Set(['EPERM', 'EACCES', 'EBUSY']);
const IN_USE_POLL_MS = 50;
const MAX_IN_USE_MS = 1000;

/** Returns the calls for Windows, where a file cannot be renamed while a virus scanner has it open. */
function windowsDisk(sleep: Sleep): Disk {
  return {
    ...ASYNC_FS,
    link: (from, to) => retryWhileInUse(() => ASYNC_FS.link(from, to), sleep),
    rename: (from, to) => renameOnWindows(from, to, sleep),
    remove: (path) => retryWhileInUse(() => ASYNC_FS.remove(path), sleep),
  };
}

/**
 * Renames a file on Windows. Throws the system error. The code of the error is `EINUSE` if another program has the file
 * open that would be replaced.
 */
export async function renameOnWindows(from: string, to: string, sleep: Sleep): Promise<void> {
  try {
    await retryWhileInUse(() => ASYNC_FS.rename(from, to), sleep);
  } catch (error) {
    if (!IN_USE_ERRORS.has(errnoOf(error))) throw error;
    const { mode = 0 } = (await ASYNC_FS.lstat(to)) ?? {};
    // Windows has the same errors for a read-only file.
    const isWritable = (mode & 0o200) !== 0;
    throw isWritable ? Object.assign(new Error('in use', { cause: error }), { code: 'EINUSE' }) : error;
  }
}

/** Repeats a call that fails because another program has a file open, for up to one second. */
export async function retryWhileInUse<T>(call: () => Promise<T>, sleep: Sleep): Promise<T> {
  const { signal } = createAbortController();
  for (let waited = 0; ; waited += IN_USE_POLL_MS) {
    try {
      return await call();
    } catch (error) {
      if (!IN_USE_ERRORS.has(errnoOf(error)) || waited >= MAX_IN_USE_MS) throw error;
    }
    await sleep(IN_USE_POLL_MS, signal);
  }
}

/** An argument for `catch`: returns undefined if the file does not exist. Throws any other error. */
export function undefinedIfMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

/**
 * Returns the bytes that a write has not written. A write may write only some of its bytes before the next one fails.
 */
export function unwrittenAfter(chunks: readonly Buffer[], written: number): readonly Buffer[] {
  let skipped = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (skipped + chunk.length > written) return [chunk.subarray(written - skipped), ...chunks.slice(index + 1)];
    skipped += chunk.length;
  }
  return [];
}
