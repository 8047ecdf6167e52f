// System calls on files and directories, with what differs between platforms. Calls that only change a name are
// synchronous, because the same call in the thread pool takes ten times as long. Calls that may take long run in the
// pool.
import {
  close,
  constants,
  existsSync,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  open,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { opendir, open as openHandle, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { createAbortController, type Sleep } from '../abort.ts';
import { errnoOf } from '../errors.ts';
import type { World } from '../world.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
export const NEW_FILE = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

/**
 * Flags for opening a file or directory only to flush it. Windows, which is recognized by its lack of O_DIRECTORY,
 * refuses to flush a descriptor that was opened only for reading.
 */
export const OPEN_TO_FLUSH = O_DIRECTORY === undefined ? O_RDWR : O_RDONLY;

/** Linux follows at most this many symbolic links in one path: path_resolution(7). */
const MAX_LINKS = 40;

export const openFile = promisify(open);
export const closeFile = promisify(close);
export const flushFile = promisify(fsync);

/**
 * Windows refuses these calls while another program has the file open, so there they wait and try again. That is why
 * they return promises although the system calls are synchronous. They throw the system error.
 */
export interface NameOperations {
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file, unless it is missing already. */
  remove(path: string): Promise<void>;
}

const POSIX: NameOperations = {
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

/** On Windows, virus scanners open each new file briefly. */
export function createNameOperations({ platform, sleep }: Pick<World, 'platform' | 'sleep'>): NameOperations {
  if (platform !== 'win32') return POSIX;
  return {
    link: (from, to) => retryWhileInUse(() => POSIX.link(from, to), sleep),
    rename: (from, to) =>
      retryWhileInUse(() => POSIX.rename(from, to), sleep).catch((error) => throwRenameError(error, to)),
    remove: (path) => retryWhileInUse(() => POSIX.remove(path), sleep),
  };
}

/** The errors that Windows reports if another program has the file open. */
const IN_USE_ERRORS: ReadonlySet<string | undefined> = new Set(['EPERM', 'EACCES', 'EBUSY']);
const IN_USE_POLL_MS = 50;
const MAX_IN_USE_MS = 1000;

/** Throws EINUSE, a code of this program, if a rename failed because another program has the file at `to` open. */
function throwRenameError(error: unknown, to: string): never {
  // Windows reports the same errors if the file at `to` is read-only. Then the hint to close it would be wrong.
  const isWritable = ((lstatSync(to, { throwIfNoEntry: false })?.mode ?? 0) & 0o200) !== 0;
  if (!IN_USE_ERRORS.has(errnoOf(error)) || !isWritable) throw error;
  throw Object.assign(new Error('in use', { cause: error }), { code: 'EINUSE' });
}

/**
 * Repeats a call for up to a second while it fails because another program has the file open. Only for Windows: on
 * other systems the same errors mean a lack of permission, and waiting does not help.
 */
export async function retryWhileInUse<T>(call: () => Promise<T>, sleep: Sleep): Promise<T> {
  // Never aborts, so even Ctrl-C waits for the end of the second.
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

/** For `.catch(undefinedIfMissing)`. */
export function undefinedIfMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

/** A write may write only some of its bytes and succeed. */
export function dropWritten(chunks: readonly Buffer[], written: number): readonly Buffer[] {
  let skipped = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (skipped + chunk.length > written) return [chunk.subarray(written - skipped), ...chunks.slice(index + 1)];
    skipped += chunk.length;
  }
  return [];
}

/**
 * Creates a directory and all missing ones above it. Returns the new ones from the top down, so that the caller can
 * flush the entry of each in its parent. A path that exists but is not a directory is no error here.
 *
 * Node's recursive `mkdir` cannot be used, because it never returns for a path such as /proc/nope.
 */
export function makeDirectories(absolutePath: string, mode?: number): readonly string[] {
  const missing: string[] = [];
  // The second condition ends the loop at a drive of Windows that does not exist, because its `dirname` is itself.
  for (let path = absolutePath; !existsSync(path) && dirname(path) !== path; path = dirname(path))
    missing.unshift(path);
  // Leaves out those that another process has created in the meantime: they are not new.
  return missing.filter((path) => makeDirectory(path, mode));
}

/** Returns false if the name already exists, whatever it is. */
export function makeDirectory(path: string, mode?: number): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Flushes the entries of a directory, if the file system and its permissions allow that. */
export async function flushDirectory(path: string): Promise<void> {
  // O_DIRECTORY is undefined on Windows, and `|` treats that as 0.
  const handle = await openHandle(path, OPEN_TO_FLUSH | O_DIRECTORY).catch(undefinedIfUnsupported);
  await handle
    ?.sync()
    .catch(undefinedIfUnsupported)
    .finally(() => handle.close());
}

/**
 * A user who may not read a directory cannot flush it, and on Windows, where OPEN_TO_FLUSH is O_RDWR, one who may not
 * write to it.
 */
function undefinedIfUnsupported(error: unknown): undefined {
  if (!['EINVAL', 'ENOTSUP', 'EBADF', 'EPERM', 'EACCES'].includes(errnoOf(error) ?? '')) throw error;
}

/**
 * Not `readdir`, which would hold all entries of a large directory in memory. By default, `opendir` reads only 32 at a
 * time.
 */
export function openDirectory(path: string) {
  return opendir(path, { bufferSize: 1024 });
}

/**
 * Unlike `realpath`, it also resolves the links of an absolute path whose file or directory does not exist yet. A loop
 * of links is left as it is.
 */
export async function resolveLinks(path: string, linksLeft = MAX_LINKS): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  const target = linksLeft > 0 ? await readlink(path).catch(() => undefined) : undefined;
  // Not joined by `resolve`, which would remove a link's name together with the `..` behind it.
  if (target !== undefined)
    return resolveLinks(isAbsolute(target) ? target : `${dirname(path)}/${target}`, linksLeft - 1);
  return join(await resolveLinks(dirname(path), linksLeft), basename(path));
}
