// Compares the files of one directory with its SHA256SUMS. Yields a finding for each listed and each unlisted file.
import { closeSync, constants } from 'node:fs';
import { join } from 'node:path';
import { isSystemError } from '../disk/failure.ts';
import { openPlain } from '../disk/plain-file.ts';
import { sha256Of } from '../disk/sha256.ts';
import { errnoOf } from '../errors.ts';
import { isPlainEntry, readSums, SUMS_NAME } from './format.ts';

/** The errors of opening a link, a socket, a directory or a device in the place of a file. */
const NO_FILE = new Set(['ELOOP', 'ENXIO', 'EOPNOTSUPP', 'EISDIR', 'EFTYPE']);

export interface Finding {
  /** The result. `damaged` and `torn` are of a SHA256SUMS itself. */
  readonly result: 'same' | 'missing' | 'changed' | 'unlisted' | 'damaged' | 'torn' | 'unreadable';
  /** The path for display. */
  readonly path: string;
  /** The reason, if the result alone does not tell it. */
  readonly reason?: string;
  readonly error?: unknown;
}

/** Called with the number of bytes of each block that was hashed. */
export type OnHashed = (bytes: number) => void;

export interface SumsDirectory {
  /** The absolute path. */
  readonly path: string;
  readonly displayPath: string;
  /** The names of the files that its SHA256SUMS should list. */
  readonly names: readonly string[];
}

/** Yields the result of each listed and each unlisted file. Throws the signal's reason. */
export async function* verifyDirectory(
  { path, displayPath, names }: SumsDirectory,
  platform: string,
  signal: AbortSignal,
  onHashed: OnHashed,
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
    const entryPath = `${sumsPath.slice(0, -SUMS_NAME.length)}${name}`;
    yield isPlainEntry(name, platform)
      ? { path: entryPath, ...(await checkFile(join(path, name), sha256, signal, onHashed)) }
      : { path: entryPath, result: 'missing', reason: 'not a file name in this directory: not opened' };
  }
  for (const name of names) {
    // HFS+ returns names in another form of Unicode than they were given.
    if (!entries.has(name) && !entries.has(name.normalize()))
      yield { result: 'unlisted', path: join(displayPath, name) };
  }
}

async function checkFile(
  path: string,
  sha256: string,
  signal: AbortSignal,
  onHashed: OnHashed,
): Promise<Omit<Finding, 'path'>> {
  try {
    const { fd, stats } = openPlain(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const actual = await sha256Of(fd, stats.size, signal, onHashed).finally(() => closeSync(fd));
    return { result: actual === sha256 ? 'same' : 'changed' };
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (!isSystemError(error)) throw error;
    if (errno === 'ENOENT') return { result: 'missing' };
    return NO_FILE.has(errno) ? { result: 'changed' } : { result: 'unreadable', error };
  }
}
