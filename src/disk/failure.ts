// Turns errors of the file system into `local_io` errors, with a reason in words and a hint.
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { errnoOf, FilingsError } from '../errors.ts';
import { markForRedaction } from '../secrets.ts';

const { ESTALE, EDQUOT } = constants.errno;
const CHOOSE_PATH = 'choose another path';
const FREE_SPACE = 'free some space, then run it again';
const CHECK_DISK = `check the disk and the path, or ${CHOOSE_PATH}`;
/** Errors of the disk or of the process, not of one file: every other file would fail as well. */
const STOPS_RUN = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE']);

/** What has the name is not a regular file, whether it was to be read or written. */
const NOT_A_FILE = new Set(['EFTYPE', 'EISDIR', 'ELOOP']);

/**
 * Frequent reasons, in plainer words than those of the system, and what to do after a failed write. `toReadError` uses
 * the reasons, too, so all except that of ENOENT must also be true of a failed read. EFTYPE and EINUSE do not come from
 * Linux: `open-file.ts` and `calls.ts` throw them.
 */
const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOSPC: ['the disk is full', FREE_SPACE],
  EDQUOT: ['the disk quota is used up', FREE_SPACE],
  ESTALE: ['stale file handle', CHECK_DISK],
  EFBIG: ['the file is larger than allowed', 'raise the limit (ulimit -f), or choose a path on another file system'],
  EACCES: ['permission denied', `${CHOOSE_PATH}, or change its permissions`],
  EMFILE: ['too many open files', 'lower --jobs, or raise the limit (ulimit -n)'],
  EIO: ['the disk reported an error', CHECK_DISK],
  ENAMETOOLONG: ['the file system refuses the name: it is too long', CHOOSE_PATH],
  EILSEQ: ['the file system refuses the name', CHOOSE_PATH],
  EINVAL: ['the file system refuses the name or the operation', CHOOSE_PATH],
  ENOENT: ['no such directory', `create it first (mkdir -p), or ${CHOOSE_PATH}`],
  EFTYPE: ['it is not a regular file', CHOOSE_PATH],
  EISDIR: ['it is a directory', `move it away, or ${CHOOSE_PATH}`],
  EBUSY: ['it is in use, or it is a mount point', 'if a container mounts this one file, mount its directory instead'],
  EINUSE: ['another program has it open', 'close it there, then run it again'],
  // Here it is always a link that O_NOFOLLOW refused, or a loop of links.
  ELOOP: ['it is a symbolic link', `remove it, or ${CHOOSE_PATH}`],
};

/** Frequent errors that libuv does not name. Node gives them a code such as `Unknown system error -116`. */
const NAMES_BY_NUMBER: Readonly<Record<number, string>> = { [ESTALE]: 'ESTALE', [EDQUOT]: 'EDQUOT' };

/** Returns any error but a system error unchanged: it is already a `FilingsError`, or a bug. */
export function toWriteError(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  const [reason, hint] = describe(error);
  const stopsRun = STOPS_RUN.has(findErrorName(error) ?? '');
  return new FilingsError('local_io', `cannot write: ${reason}`, { subject: { path }, hint, cause: error, stopsRun });
}

/** For a directory that was there at the beginning of the run. */
export function goneDirectoryError(path: string): FilingsError {
  const hint = 'find out what moved or removed it, then run it again';
  return new FilingsError('local_io', 'cannot write: the directory no longer exists', { subject: { path }, hint });
}

export async function mapWriteErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toWriteError(error, path);
  }
}

/** A failed read does not stop the run. */
export function toReadError(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  // Unlike a failed write, a failed read may well mean that the file itself is missing.
  const [words, writeHint] = describe(error);
  const reason = errnoOf(error) === 'ENOENT' ? 'no such file or directory' : words;
  const hint = NOT_A_FILE.has(errnoOf(error) ?? '') ? writeHint : 'check its permissions, and the disk';
  return new FilingsError('local_io', `cannot read: ${reason}`, { subject: { path }, hint, cause: error });
}

/**
 * Whether an error comes from a system call or a closed stream. EFTYPE and EINUSE of this program have no number. Other
 * errors of Node, such as ERR_INVALID_ARG_TYPE, mean a bug here.
 */
export function isSystemError(error: unknown): boolean {
  return findErrorNumber(error) !== undefined || /^(E[A-Z0-9]+|ERR_STREAM_.+)$/.test(errnoOf(error) ?? '');
}

function describe(error: unknown): readonly [reason: string, hint: string] {
  return REASONS[findErrorName(error) ?? ''] ?? [systemReason(error), CHECK_DISK];
}

/**
 * Returns the system's words, such as `permission denied (EACCES)`. Callers that make their own error use only this,
 * because the REASONS can mislead there: a missing config file is not a missing directory.
 */
export function systemReason(error: unknown): string {
  const name = findErrorName(error);
  // The message may quote foreign text, for example of the service, from which secrets must be removed in the output.
  if (name === undefined) return markForRedaction(error instanceof Error ? error.message : String(error));
  const [, words] = [...getSystemErrorMap().values()].find(([known]) => known === name) ?? [];
  // Node has no words for an error that libuv does not name, such as ESTALE.
  const reason = words ?? REASONS[name]?.[0];
  return reason === undefined ? name.replace(/^Unknown system error -/, 'system error ') : `${reason} (${name})`;
}

/** Such as `ENOSPC`, or the code of another error of Node. */
function findErrorName(error: unknown): string | undefined {
  return NAMES_BY_NUMBER[-(findErrorNumber(error) ?? 0)] ?? errnoOf(error);
}

/** Such as -28, where `errnoOf` returns `ENOSPC`. */
function findErrorNumber(error: unknown): number | undefined {
  const { errno } = (error ?? {}) as { errno?: unknown };
  return typeof errno === 'number' ? errno : undefined;
}
