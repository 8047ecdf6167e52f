import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { errnoOf, FilingsError } from '../errors.ts';

/** What a download may do about its place. */
const ELSEWHERE = 'choose another place with --directory or --output';

const REASONS: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  ENOSPC: ['the disk is full', 'make room, then run it again: what is complete is kept'],
  EDQUOT: ['the disk quota is used up', 'make room, then run it again: what is complete is kept'],
  EFBIG: [
    'the file is larger than may be written here',
    'raise the limit (ulimit -f), or write to another file system',
  ],
  EROFS: ['the file system is read-only', ELSEWHERE],
  EACCES: ['permission denied', `${ELSEWHERE}, or change its permissions`],
  EPERM: ['not permitted', `${ELSEWHERE}, or change its permissions`],
  EMFILE: ['too many open files', 'lower --jobs, or raise the limit (ulimit -n)'],
  ENFILE: ['too many open files on this machine', 'lower --jobs'],
  EIO: ['the disk reported an error', 'check the disk: nothing incomplete was kept under the final name'],
  ENOENT: ['the directory is not there', 'make it first (mkdir -p), or choose another place'],
  ENOTDIR: ['a part of the path is not a directory', ELSEWHERE],
  EISDIR: ['it is a directory', 'name a file, or use --directory'],
  ELOOP: ['a symbolic link is in the way', 'links below the target directory are not followed: remove it'],
  ENAMETOOLONG: ['the name is too long for the file system', 'choose a shorter one with --output'],
};

/**
 * Turns what the file system said about a path into `local_io`, with what to do about it; the run stops.
 * `elsewhere` says how to choose another place.
 */
export function diskFailure(error: unknown, path: string, elsewhere: string = ELSEWHERE): FilingsError {
  if (error instanceof FilingsError) return error;
  const code = codeOf(error);
  const [why, hint] = (code && REASONS[code]) || [systemReason(error), 'check the disk and the path'];
  return new FilingsError('local_io', `${path}: cannot write: ${why}`, {
    hint: hint.replace(ELSEWHERE, elsewhere),
    cause: error,
    stopsRun: true,
  });
}

/** Does work on a path; what the file system says meanwhile is thrown as `diskFailure`. */
export async function withDiskFailure<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, path);
  }
}

/** libuv has no name for a used-up quota, only the system's number. */
function codeOf(error: unknown): string | undefined {
  const number = (error as { errno?: unknown } | null | undefined)?.errno;
  return number === -constants.errno.EDQUOT ? 'EDQUOT' : errnoOf(error);
}

/** Turns what the file system said when a path was read into `local_io`. */
export function readFailure(error: unknown, path: string): FilingsError {
  if (error instanceof FilingsError) return error;
  const code = errnoOf(error);
  const [why] = (code && REASONS[code]) || [systemReason(error)];
  return new FilingsError('local_io', `${path}: cannot read: ${why}`, {
    hint: 'check its permissions, and the disk',
    cause: error,
  });
}

/** What the system said, in words and with its name: `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const code = errnoOf(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return words === undefined ? code : `${words} (${code})`;
}
