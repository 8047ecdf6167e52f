// Compares the files of one directory with its SHA256SUMS. Yields a finding for each listed and each unlisted file.
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../disk/sha256.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { isPlainEntry, readSums, SUMS_NAME } from './format.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Opens without following links and without waiting, because a link or a FIFO in place of the file is not the file. */
const READING = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** The errors of open(2) for links and sockets. */
const NO_FILE = new Set(['ELOOP', 'ENXIO', 'EOPNOTSUPP']);

export interface Finding {
  /** The result. `damaged` and `torn` are of a SHA256SUMS itself. */
  readonly result: 'same' | 'missing' | 'changed' | 'unlisted' | 'damaged' | 'torn' | 'unreadable';
  /** The path for display. */
  readonly path: string;
  /** The reason, if the result alone does not tell it. */
  readonly reason?: string;
  readonly error?: unknown;
}

/** Called with the number of bytes hashed. Yields to signals and progress. Throws the signal's reason. */
export type OnProgress = (hashed?: number) => Promise<void>;

export interface SumsDirectory {
  /** The absolute path. */
  readonly path: string;
  readonly displayPath: string;
  /** The names of the files that its SHA256SUMS should list. */
  readonly names: readonly string[];
}

/** Yields the result of each listed and each unlisted file. Throws what `onProgress` throws. */
export async function* verifyDirectory(
  { path, displayPath, names }: SumsDirectory,
  platform: string,
  onProgress: OnProgress,
): AsyncGenerator<Finding> {
  const sumsPath = join(displayPath, SUMS_NAME);
  const sums = await readSums(join(path, SUMS_NAME), sumsPath).catch((error) => ({ error }));
  if ('error' in sums) return yield { result: 'unreadable', path: sumsPath, error: sums.error };
  const { entries, unreadable, isTorn } = sums;
  if (unreadable.length > 0) {
    const others = unreadable.length > 1 ? ` and ${unreadable.length - 1} more are unreadable` : ' is unreadable';
    yield { result: 'damaged', path: sumsPath, reason: `line ${unreadable[0]}${others}` };
  } else if (entries.size === 0) yield { result: 'damaged', path: sumsPath, reason: 'it has no entries' };
  if (isTorn) yield { result: 'torn', path: sumsPath, reason: 'its last line is incomplete' };
  for (const [name, { sha256 }] of entries) {
    // Joining them would resolve `..` in a name.
    const found = { path: `${join(displayPath, SUMS_NAME).slice(0, -SUMS_NAME.length)}${name}` };
    if (!isPlainEntry(name, platform)) {
      yield { ...found, result: 'missing', reason: 'not a file name in this directory: not opened' };
      continue;
    }
    yield { ...found, ...(await checkFile(join(path, name), sha256, onProgress)) };
    await onProgress();
  }
  for (const name of names) {
    // HFS+ returns names in another form of Unicode than they were given.
    if (!entries.has(name) && !entries.has(name.normalize()))
      yield { result: 'unlisted', path: join(displayPath, name) };
    await onProgress();
  }
}

async function checkFile(path: string, sha256: string, onProgress: OnProgress): Promise<Omit<Finding, 'path'>> {
  try {
    const fd = openSync(path, READING);
    try {
      const stats = fstatSync(fd);
      const isSame = stats.isFile() && (await sha256Of(fd, stats.size, onProgress)) === sha256;
      return { result: isSame ? 'same' : 'changed' };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (error instanceof FilingsError || errno === undefined) throw error;
    if (errno === 'ENOENT') return { result: 'missing' };
    return NO_FILE.has(errno) ? { result: 'changed' } : { result: 'unreadable', error };
  }
}
