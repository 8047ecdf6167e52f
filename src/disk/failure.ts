import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { errnoOf, FilingsError } from '../errors.ts';

const ELSEWHERE = 'choose another place';
const ROOM = 'free some space, then run it again: complete files are kept';
const CHECK = `check the disk and the path, or ${ELSEWHERE}`;

const REASONS: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  ENOSPC: ['the disk is full', ROOM],
  EDQUOT: ['the disk quota is used up', ROOM],
  EFBIG: ['the file is larger than may be written here', `raise the limit (ulimit -f), or ${ELSEWHERE}`],
  EACCES: ['permission denied', `${ELSEWHERE}, or change its permissions`],
  EMFILE: ['too many open files', 'lower --jobs, or raise the limit (ulimit -n)'],
  EIO: ['the disk reported an error', CHECK],
  ENOENT: ['the directory is not there', `make it first (mkdir -p), or ${ELSEWHERE}`],
  EFTYPE: ['it is not a regular file', ELSEWHERE],
  EISDIR: ['it is a directory', 'name a file, or move it away'],
  ELOOP: ['a symbolic link already exists there', `remove it, or ${ELSEWHERE}`],
};

/** The calls that write. Network disks report lost writes at `close`. */
const WRITES: ReadonlySet<unknown> = new Set(['write', 'fsync', 'fdatasync', 'ftruncate', 'close']);
/** What a full or failing disk says, whatever the call. */
const DISK_FAILURES: ReadonlySet<unknown> = new Set(['EIO', 'EROFS', 'ENOSPC', 'EDQUOT']);

/** Returns whether a write or a flush failed, according to the error or its causes: the disk may have lost bytes. */
export function isWriteFailure(error: unknown): boolean {
  // A failed socket names `write`, too.
  if (!(error instanceof Error) || (error instanceof FilingsError && error.code !== 'local_io')) return false;
  const { syscall, code, cause } = error as NodeJS.ErrnoException;
  return WRITES.has(syscall) || DISK_FAILURES.has(code) || isWriteFailure(cause);
}

/** What the file system said about a path, as `local_io` that stops the run. */
export function diskFailure(error: unknown, path: string): FilingsError {
  if (error instanceof FilingsError) return error;
  const [why, hint] = reasonOf(error);
  return new FilingsError('local_io', `${path}: cannot write: ${why}`, { hint, cause: error, stopsRun: true });
}

/** What the file system says meanwhile is thrown as `diskFailure`. */
export async function withDiskFailure<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, path);
  }
}

export function readFailure(error: unknown, path: string): FilingsError {
  if (error instanceof FilingsError) return error;
  const hint = 'check its permissions, and the disk';
  return new FilingsError('local_io', `${path}: cannot read: ${reasonOf(error)[0]}`, { hint, cause: error });
}

function reasonOf(error: unknown): readonly [why: string, hint: string] {
  // libuv has no name for a used-up quota.
  const isQuota = (error as { errno?: unknown } | undefined)?.errno === -constants.errno.EDQUOT;
  return REASONS[isQuota ? 'EDQUOT' : (errnoOf(error) ?? '')] ?? [systemReason(error), CHECK];
}

/** In words and with its name: `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const code = errnoOf(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return words === undefined ? code : `${words} (${code})`;
}
