// System calls on files, with what differs between platforms. Calls that only change a name are synchronous, because
// the same call in the thread pool takes ten times as long. Calls that may take long run in the pool.
import { close, constants, linkSync, lstatSync, open, renameSync, unlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { createAbortController, type Sleep } from '../abort.ts';
import { errnoOf } from '../errors.ts';
import type { World } from '../world.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
/** Flags that create a file for reading and writing, and fail if the name exists. */
export const NEW_FILE = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

/**
 * Flags for opening a file or directory only to flush it. Windows, which is recognized by its lack of O_DIRECTORY,
 * refuses to flush a descriptor that was opened for reading.
 */
export const OPEN_TO_FLUSH = O_DIRECTORY === undefined ? O_RDWR : O_RDONLY;

// Both run in the thread pool, and throw the system error.
export const openFile = promisify(open);
export const closeFile = promisify(close);

/**
 * Calls that change names. Windows refuses them while another program has the file open. They throw the system error.
 */
export interface NameCalls {
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file, unless it is missing already. */
  remove(path: string): Promise<void>;
}

const POSIX: NameCalls = {
  link: async (from, to) => linkSync(from, to),
  rename: async (from, to) => renameSync(from, to),
  remove: async (path) => {
    try {
      unlinkSync(path);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  },
};

/** Returns calls that on Windows are repeated for up to a second, because virus scanners open each new file briefly. */
export function createNameCalls({ platform, sleep }: Pick<World, 'platform' | 'sleep'>): NameCalls {
  if (platform !== 'win32') return POSIX;
  return {
    link: (from, to) => retryWhileInUse(() => POSIX.link(from, to), sleep),
    rename: (from, to) => retryWhileInUse(() => POSIX.rename(from, to), sleep).catch((error) => refineInUse(error, to)),
    remove: (path) => retryWhileInUse(() => POSIX.remove(path), sleep),
  };
}

/** The errors that Windows reports if another program has the file open. */
const IN_USE_ERRORS: ReadonlySet<string | undefined> = new Set(['EPERM', 'EACCES', 'EBUSY']);
const IN_USE_POLL_MS = 50;
const MAX_IN_USE_MS = 1000;

/**
 * Throws EINUSE, a code of this program, if the file to replace is open in another program. Otherwise throws the error
 * itself.
 */
function refineInUse(error: unknown, replaced: string): never {
  // Windows fails in the same way for a read-only file, but waiting does not help there.
  const isWritable = ((lstatSync(replaced, { throwIfNoEntry: false })?.mode ?? 0) & 0o200) !== 0;
  if (!IN_USE_ERRORS.has(errnoOf(error)) || !isWritable) throw error;
  throw Object.assign(new Error('in use', { cause: error }), { code: 'EINUSE' });
}

/** Repeats a call for up to a second while it fails because another program has the file open. */
export async function retryWhileInUse<T>(call: () => Promise<T>, sleep: Sleep): Promise<T> {
  // `sleep` requires a signal. This one never aborts.
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

/** For `.catch(undefinedIfMissing)`: returns undefined if the file does not exist, and rethrows any other error. */
export function undefinedIfMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

/** Returns the chunks without their first `written` bytes. A write may write only some of its bytes and succeed. */
export function dropWritten(chunks: readonly Buffer[], written: number): readonly Buffer[] {
  let skipped = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (skipped + chunk.length > written) return [chunk.subarray(written - skipped), ...chunks.slice(index + 1)];
    skipped += chunk.length;
  }
  return [];
}
