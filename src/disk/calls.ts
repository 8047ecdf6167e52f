// The system calls that this program makes on files. Calls on names are synchronous, because a call in the thread pool
// takes ten times as long. Writes and flushes, which may take long, run in the pool.
import { close, constants, linkSync, lstatSync, open, renameSync, unlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { createAbortController, type Sleep } from '../abort.ts';
import { errnoOf } from '../errors.ts';
import type { World } from '../world.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
/** Creates a file that must not exist, for reading and writing. */
export const NEW_FILE = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

/**
 * Opens a file or directory only to flush it. Windows, which has no O_DIRECTORY, flushes only descriptors for writing.
 */
export const OPEN_TO_FLUSH = O_DIRECTORY === undefined ? O_RDWR : O_RDONLY;

// These calls run in the thread pool. They throw the system error.
export const openFile = promisify(open) as (path: string | Buffer, flags: number, mode?: number) => Promise<number>;
export const closeFile: (fd: number) => Promise<void> = promisify(close);

/** Calls that Windows refuses while another program has the file open. They throw the system error. */
export interface Names {
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file. Does not fail if the file is missing. */
  remove(path: string): Promise<void>;
}

const POSIX: Names = {
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

/** Returns the calls of a platform. */
export function namesOn({ platform, sleep }: Pick<World, 'platform' | 'sleep'>): Names {
  if (platform !== 'win32') return POSIX;
  return {
    link: (from, to) => retryWhileInUse(() => POSIX.link(from, to), sleep),
    rename: (from, to) => retryWhileInUse(() => POSIX.rename(from, to), sleep).catch((error) => refineInUse(error, to)),
    remove: (path) => retryWhileInUse(() => POSIX.remove(path), sleep),
  };
}

/** The errors of Windows for a file that another program has open. */
const IN_USE_ERRORS: ReadonlySet<string | undefined> = new Set(['EPERM', 'EACCES', 'EBUSY']);
const IN_USE_POLL_MS = 50;
const MAX_IN_USE_MS = 1000;

/** Throws `EINUSE` if another program has the file open that would be replaced, otherwise the error itself. */
function refineInUse(error: unknown, replaced: string): never {
  // Windows has the same errors for a read-only file.
  const isWritable = ((lstatSync(replaced, { throwIfNoEntry: false })?.mode ?? 0) & 0o200) !== 0;
  if (!IN_USE_ERRORS.has(errnoOf(error)) || !isWritable) throw error;
  throw Object.assign(new Error('in use', { cause: error }), { code: 'EINUSE' });
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
