import { type BigIntStats, close, constants, fstat, open } from 'node:fs';
import { promisify } from 'node:util';
import { diskFailure } from '../disk/failure.ts';
import { appendWhole } from '../disk/whole-lines.ts';
import { errnoOf, FilingsError } from '../errors.ts';

const openAt = promisify(open);
const closeFd = promisify(close);
const statFd = promisify(fstat);

const { O_APPEND, O_CREAT, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const APPENDING = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/** A file that several processes append lines to. */
export interface SharedFile {
  /** For system calls. */
  readonly path: string;
  /** For people. */
  readonly shown: string;
  /** Whose it has to be; undefined where the platform knows no users. */
  readonly uid: number | undefined;
}

/**
 * Appends whole lines (each with its line break) by one write. What stands there belongs to whoever may write in that
 * directory, until it is proved to be ours.
 * @throws FilingsError `local_io`
 */
export async function appendLines(file: SharedFile, lines: Buffer): Promise<void> {
  try {
    const fd = await openAt(file.path, APPENDING, 0o666);
    try {
      requireOwn(await statFd(fd, { bigint: true }), file);
      await appendWhole(fd, lines);
    } finally {
      await closeFd(fd);
    }
  } catch (error) {
    throw appendFailure(error, file.shown);
  }
}

/** Refuses what somebody else may have put there. Throws `local_io`. */
function requireOwn(stats: BigIntStats, { shown, uid }: SharedFile): void {
  const why = !stats.isFile()
    ? 'not a regular file'
    : uid !== undefined && stats.uid !== BigInt(uid)
      ? 'another user owns it'
      : stats.nlink > 1n
        ? 'it has another name, too (a hard link)'
        : undefined;
  if (why !== undefined) throw cannotAppend(shown, why);
}

function appendFailure(error: unknown, shown: string): FilingsError {
  const errno = errnoOf(error);
  if (errno !== 'ELOOP' && errno !== 'ENXIO') return diskFailure(error, shown);
  return cannotAppend(shown, errno === 'ELOOP' ? 'a symbolic link' : 'not a regular file', error);
}

function cannotAppend(shown: string, why: string, cause?: unknown): FilingsError {
  const hint = 'move it away: a new one is made';
  return new FilingsError('local_io', `${shown}: cannot append: ${why}`, { hint, stopsRun: true, cause });
}
