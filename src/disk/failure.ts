// Turns errors of the file system into errors of the program, with a reason in words and a hint.
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { errnoOf, FilingsError } from '../errors.ts';
import { foreign } from '../secrets.ts';

const { errno } = constants;
const ELSEWHERE = 'choose another place';
const ROOM = 'free some space, then run it again: complete files are kept';
const CHECK = `check the disk and the path, or ${ELSEWHERE}`;

const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOSPC: ['the disk is full', ROOM],
  EDQUOT: ['the disk quota is used up', ROOM],
  ESTALE: ['stale file handle', CHECK],
  EFBIG: ['the file is larger than may be written here', `raise the limit (ulimit -f), or ${ELSEWHERE}`],
  EACCES: ['permission denied', `${ELSEWHERE}, or change its permissions`],
  EMFILE: ['too many open files', 'lower --jobs, or raise the limit (ulimit -n)'],
  EIO: ['the disk reported an error', CHECK],
  ENOENT: ['no such directory', `create it first (mkdir -p), or ${ELSEWHERE}`],
  EFTYPE: ['it is not a regular file', ELSEWHERE],
  EISDIR: ['it is a directory', 'name a file, or move it away'],
  EBUSY: ['it is in use, or mounted by itself', 'if a container mounts this one file, mount its directory instead'],
  EINUSE: ['another program has it open', 'close it there, then run it again'],
  ELOOP: ['a symbolic link already exists there', `remove it, or ${ELSEWHERE}`],
};

/** Common errors of file systems without a name in libuv, by number. */
const UNNAMED: Readonly<Record<number, string>> = { [errno.ESTALE]: 'ESTALE', [errno.EDQUOT]: 'EDQUOT' };

/**
 * Returns a `local_io` for a failed write to a path. It stops the run, unless the cause is only that another program
 * has the file open. Returns any error that is not of the system as it is, because such an error is a defect.
 */
export function diskError(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  const [reason, hint] = explain(error);
  const stopsRun = errnoOf(error) !== 'EINUSE';
  const details = { subject: { path }, hint, cause: error, stopsRun };
  return new FilingsError('local_io', `cannot write: ${reason}`, details);
}

/** Returns the result of `work`. Throws its system errors as `diskError` returns them. */
export async function withDiskError<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskError(error, path);
  }
}

/** Returns a `local_io` for a failed read of a path, which does not stop the run. Returns other errors as they are. */
export function readError(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  const hint = 'check its permissions, and the disk';
  return new FilingsError('local_io', `cannot read: ${explain(error)[0]}`, { subject: { path }, hint, cause: error });
}

/** Returns whether an error is one of a system call or of a closed stream, and not a defect. */
export function isSystemError(error: unknown): boolean {
  const { errno: number } = (error ?? {}) as { errno?: unknown };
  return typeof number === 'number' || /^(E[A-Z0-9]+|ERR_STREAM_.+)$/.test(errnoOf(error) ?? '');
}

function explain(error: unknown): readonly [reason: string, hint: string] {
  return REASONS[nameOf(error) ?? ''] ?? [systemReason(error), CHECK];
}

function nameOf(error: unknown): string | undefined {
  const { errno: number } = (error ?? {}) as { errno?: unknown };
  return (typeof number === 'number' && UNNAMED[-number]) || errnoOf(error);
}

/** Returns a system error in words and with its name: `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const code = nameOf(error);
  if (code === undefined) return foreign(error instanceof Error ? error.message : String(error));
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  const reason = words ?? REASONS[code]?.[0];
  return reason === undefined ? code.replace(/^Unknown system error -/, 'system error ') : `${reason} (${code})`;
}
