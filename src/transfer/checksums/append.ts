import { type BigIntStats, close, constants, fstat, open, read, stat, write } from 'node:fs';
import { promisify } from 'node:util';
import { diskFailure } from '../../disk/failure.ts';
import { errnoOf, FilingsError } from '../../errors.ts';

const openAt = promisify(open);
const closeFd = promisify(close);
const readAt = promisify(read);
const writeTo = promisify(write);
const statFd = promisify(fstat);
const statPath = promisify(stat);

const { O_APPEND, O_CREAT, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const APPENDING = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const LINE_BREAK = 10;

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
    const text = (await endsInLine(fd, before.size)) ? lines : afterTornLine(lines);
    await writeWhole(fd, text);
    const now = await statPath(file.path, { bigint: true }).catch(() => undefined);
    if (now === undefined || now.ino !== before.ino || now.dev !== before.dev) return false;
    const isAlone = now.size === before.size + BigInt(text.length);
    // Another one wrote meanwhile, and may have torn its line in front of ours.
    if (!isAlone && !(await standsIn(fd, lines, before.size, now.size))) await writeWhole(fd, afterTornLine(lines));
    return true;
  } finally {
    await closeFd(fd);
  }
}

/** By one write. One that took less than asked has torn a line: all of it again, behind a line break. */
async function writeWhole(fd: number, lines: Buffer): Promise<void> {
  for (let text = lines; ; text = afterTornLine(lines)) {
    const { bytesWritten } = await writeTo(fd, text, 0, text.length, null);
    if (bytesWritten === text.length) return;
  }
}

/** Whether the lines stand as lines of their own between two places of a file; the first is the end of a line, or taken for none. */
async function standsIn(fd: number, lines: Buffer, from: bigint, to: bigint): Promise<boolean> {
  const start = from === 0n ? 0 : Number(from) - 1;
  const written = Buffer.alloc(Number(to) - start);
  const { bytesRead } = await readAt(fd, written, 0, written.length, start);
  const region = written.subarray(0, bytesRead);
  for (let at = region.indexOf(lines); at >= 0; at = region.indexOf(lines, at + 1)) {
    if (at === 0 ? from === 0n : region[at - 1] === LINE_BREAK) return true;
  }
  return false;
}

function afterTornLine(lines: Buffer): Buffer {
  return Buffer.concat([Buffer.of(LINE_BREAK), lines]);
}

/** Whether the last line of a file of `size` bytes is ended. */
export async function endsInLine(fd: number, size: bigint): Promise<boolean> {
  if (size === 0n) return true;
  const last = Buffer.alloc(1);
  const { bytesRead } = await readAt(fd, last, 0, 1, Number(size) - 1);
  return bytesRead === 1 && last[0] === LINE_BREAK;
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
  const hint = 'move it away: a new one is made';
  throw new FilingsError('local_io', `${shown}: cannot be appended to: ${why}`, { hint, stopsRun: true });
}

function appendFailure(error: unknown, shown: string): FilingsError {
  const errno = errnoOf(error);
  if (errno !== 'ELOOP' && errno !== 'ENXIO') return diskFailure(error, shown);
  const why = errno === 'ELOOP' ? 'it is a symbolic link' : 'it is no plain file';
  const hint = 'move it away: a new one is made';
  return new FilingsError('local_io', `${shown}: cannot be appended to: ${why}`, {
    hint,
    stopsRun: true,
    cause: error,
  });
}
