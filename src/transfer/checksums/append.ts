import { type BigIntStats, close, constants, fstat, open, stat } from 'node:fs';
import { promisify } from 'node:util';
import { diskFailure } from '../../disk/failure.ts';
import { appendWhole } from '../../disk/whole-lines.ts';
import { errnoOf, FilingsError } from '../../errors.ts';

const openAt = promisify(open);
const closeFd = promisify(close);
const statFd = promisify(fstat);
const statPath = promisify(stat);

const { O_APPEND, O_CREAT, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const APPENDING = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/** A file that several processes append lines to. */
export interface SharedFile {
  /** For system calls. */
  readonly path: string | Buffer;
  /** For people. */
  readonly shown: string;
  /** Whose it has to be; undefined where the platform knows no users. */
  readonly uid: number | undefined;
}

/**
 * Appends whole lines (each with its line break) by one write. What stands there belongs to whoever may write in that
 * directory, until it is proved to be ours. Nothing is lost when another process puts a rewritten file in its place
 * meanwhile: the lines then go into that one, too, where they may stand twice.
 * @throws FilingsError `local_io`
 */
export async function appendLines(file: SharedFile, lines: Buffer): Promise<void> {
  try {
    while (!(await appendOnce(file, lines))) {
      // Replaced meanwhile: once more, into what stands there now.
    }
  } catch (error) {
    throw appendFailure(error, file.shown);
  }
}

/** False when the file was replaced before the lines were in it, or so soon after that they may have been missed. */
async function appendOnce(file: SharedFile, lines: Buffer): Promise<boolean> {
  const fd = await openAt(file.path, APPENDING, 0o666);
  try {
    const before = await statFd(fd, { bigint: true });
    requireOwn(before, file);
    await appendWhole(fd, lines);
    const now = await statPath(file.path, { bigint: true }).catch(() => undefined);
    return now !== undefined && now.ino === before.ino && now.dev === before.dev;
  } finally {
    await closeFd(fd);
  }
}

/** Refuses what somebody else may have put there. Throws `local_io`. */
export function requireOwn(stats: BigIntStats, { shown, uid }: SharedFile): void {
  const why = !stats.isFile()
    ? 'it is no plain file'
    : uid !== undefined && stats.uid !== BigInt(uid)
      ? 'another user owns it'
      : stats.nlink > 1n
        ? 'it has another name, too (a hard link)'
        : undefined;
  if (why === undefined) return;
  throw cannotAppend(shown, why);
}

function appendFailure(error: unknown, shown: string): FilingsError {
  const errno = errnoOf(error);
  if (errno !== 'ELOOP' && errno !== 'ENXIO') return diskFailure(error, shown);
  const why = errno === 'ELOOP' ? 'it is a symbolic link' : 'it is no plain file';
  return cannotAppend(shown, why, error);
}

function cannotAppend(shown: string, why: string, cause?: unknown): FilingsError {
  const hint = 'move it away: a new one is made';
  return new FilingsError('local_io', `${shown}: cannot be appended to: ${why}`, { hint, stopsRun: true, cause });
}
