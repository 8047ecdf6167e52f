import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { errnoOf, FilingsError, type Hint } from '../errors.ts';

const { errno } = constants;
const ELSEWHERE = 'choose another place';
const ROOM = 'free some space, then run it again: complete files are kept';
const CHECK = `check the disk and the path, or ${ELSEWHERE}`;

const REASONS: Readonly<Record<string, readonly [why: string, hint: Hint]>> = {
  ENOSPC: ['the disk is full', ROOM],
  EDQUOT: ['the disk quota is used up', ROOM],
  EFBIG: ['the file is larger than may be written here', `raise the limit (ulimit -f), or ${ELSEWHERE}`],
  EACCES: ['permission denied', `${ELSEWHERE}, or change its permissions`],
  EMFILE: ['too many open files', { advice: 'fewer-jobs' }],
  EIO: ['the disk reported an error', CHECK],
  ENOENT: ['the directory is not there', `make it first (mkdir -p), or ${ELSEWHERE}`],
  EFTYPE: ['it is not a regular file', ELSEWHERE],
  EISDIR: ['it is a directory', 'name a file, or move it away'],
  EINUSE: ['another program has it open', 'close it there, then run it again'],
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

/**
 * Errors of Linux that libuv has no name for, by number: what file systems answer, in the words of glibc. Where another
 * system has such an error, `os.constants` knows its number.
 */
const UNNAMED: Readonly<Record<number, readonly [name: string, words: string]>> = {
  [errno.EDEADLK]: ['EDEADLK', 'Resource deadlock avoided'],
  [errno.ENOLCK]: ['ENOLCK', 'No locks available'],
  [errno.ENOLINK]: ['ENOLINK', 'Link has been severed'],
  [errno.EBADMSG]: ['EBADMSG', 'Bad message'],
  [errno.ESTALE]: ['ESTALE', 'Stale file handle'],
  117: ['EUCLEAN', 'Structure needs cleaning'],
  [errno.EDQUOT]: ['EDQUOT', 'Disk quota exceeded'],
  123: ['ENOMEDIUM', 'No medium found'],
  124: ['EMEDIUMTYPE', 'Wrong medium type'],
  126: ['ENOKEY', 'Required key not available'],
  127: ['EKEYEXPIRED', 'Key has expired'],
  128: ['EKEYREVOKED', 'Key has been revoked'],
  129: ['EKEYREJECTED', 'Key was rejected by service'],
  133: ['EHWPOISON', 'Memory page has hardware error'],
};

/**
 * Returns what the file system said about a path as `local_io` that stops the run, unless one file alone is in use. Any other error is a defect of the
 * program, which is no less one because it occurs next to a file, and is returned as it is.
 */
export function diskFailure(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  const [why, hint] = explain(error);
  const stopsRun = errnoOf(error) !== 'EINUSE';
  const details = { subject: { path }, hint, cause: error, stopsRun };
  return new FilingsError('local_io', `cannot write: ${why}`, details);
}

/** What the file system says meanwhile is thrown as `diskFailure`. */
export async function withDiskFailure<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, path);
  }
}

/** As `diskFailure`, but the run goes on. */
export function readFailure(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  const hint = 'check its permissions, and the disk';
  return new FilingsError('local_io', `cannot read: ${explain(error)[0]}`, { subject: { path }, hint, cause: error });
}

/** Whether an error is one of a system call, or of a stream that was closed, and not a defect. */
export function isSystemError(error: unknown): boolean {
  const { errno: number } = (error ?? {}) as { errno?: unknown };
  return typeof number === 'number' || /^(E[A-Z0-9]+|ERR_STREAM_.+)$/.test(errnoOf(error) ?? '');
}

function explain(error: unknown): readonly [why: string, hint: Hint] {
  return REASONS[nameOf(error) ?? ''] ?? [systemReason(error), CHECK];
}

function nameOf(error: unknown): string | undefined {
  return unnamed(error)?.[0] ?? errnoOf(error);
}

function unnamed(error: unknown) {
  const { errno: number } = (error ?? {}) as { errno?: unknown };
  return typeof number === 'number' ? UNNAMED[-number] : undefined;
}

/** In words and with its name: `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const code = errnoOf(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  const [name, words] = unnamed(error) ?? [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return words === undefined ? code.replace(/^Unknown system error -/, 'system error ') : `${words} (${name})`;
}
