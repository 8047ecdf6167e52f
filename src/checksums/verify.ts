import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { sha256Of } from '../disk/sha256.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { type ByteText, bytesOf, byteText, isPlainEntry, readable, readSums, SUMS_NAME, systemPath } from './read.ts';

// Compares the files of one directory with its SHA256SUMS. Yields a finding for each listed and each unlisted file.

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Opens without following links and without waiting, because a link or a FIFO in place of the file is not the file. */
const READING = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** The errors of open(2) for links and sockets. */
const NO_FILE = new Set(['ELOOP', 'ENXIO', 'EOPNOTSUPP']);

export interface Finding {
  /** The result. `damaged` and `torn` are results of a SHA256SUMS itself. */
  readonly result: 'same' | 'missing' | 'changed' | 'unlisted' | 'damaged' | 'torn' | 'unreadable';
  /** The path for display. */
  readonly path: ByteText;
  /** The reason, if the result alone does not tell it. */
  readonly reason?: string;
  readonly error?: unknown;
}

/** Called with the number of bytes hashed. Yields to signals and progress. Throws the signal's reason. */
export type OnProgress = (hashed?: number) => Promise<void>;

export interface SumsDirectory {
  /** The path for system calls. */
  readonly path: ByteText;
  /** The path for display. */
  readonly displayPath: ByteText;
  /** The names of the files that its SHA256SUMS should list. */
  readonly names: readonly ByteText[];
  readonly platform: string;
}

/** Yields the result of each listed and each unlisted file. Throws what `onProgress` throws. */
export async function* verifyDirectory(directory: SumsDirectory, onProgress: OnProgress): AsyncGenerator<Finding> {
  const path = joined(directory.displayPath, SUMS_NAME);
  const sums = await readSums(systemPath(joined(directory.path, SUMS_NAME)), readable(path)).catch((error) => ({
    error,
  }));
  if ('error' in sums) return yield { result: 'unreadable', path, error: sums.error };
  const { entries, unreadable, isTorn } = sums;
  if (unreadable.length > 0) {
    const others = unreadable.length > 1 ? ` and ${unreadable.length - 1} more are unreadable` : ' is unreadable';
    yield { result: 'damaged', path, reason: `line ${unreadable[0]}${others}` };
  }
  if (isTorn && entries.size > 0) yield { result: 'torn', path, reason: 'the last line is incomplete' };
  if (entries.size === 0 && unreadable.length === 0) yield { result: 'damaged', path, reason: 'it has no entries' };
  for (const [name, sha256] of entries) {
    yield await findingOf(name, sha256, directory, onProgress);
    await onProgress();
  }
  const listed = directory.platform === 'darwin' ? new Set([...entries.keys()].map(composed)) : entries;
  for (const name of directory.names) {
    if (listed.has(directory.platform === 'darwin' ? composed(name) : name)) continue;
    yield { result: 'unlisted', path: joined(directory.displayPath, name) };
    await onProgress();
  }
}

/** Returns the result of an entry. An entry that is not a plain name in its directory is never opened. */
async function findingOf(
  name: ByteText,
  sha256: string,
  directory: SumsDirectory,
  onProgress: OnProgress,
): Promise<Finding> {
  const path = joined(directory.displayPath, name);
  if (!isPlainEntry(name, directory.platform)) {
    return { result: 'missing', path, reason: 'not a file name in this directory: not opened' };
  }
  try {
    return { result: await checkFile(systemPath(joined(directory.path, name)), sha256, onProgress), path };
  } catch (error) {
    if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
    return { result: 'unreadable', path, error };
  }
}

async function checkFile(
  path: string | Buffer,
  sha256: string,
  onProgress: OnProgress,
): Promise<'same' | 'missing' | 'changed'> {
  let fd: number;
  try {
    fd = openSync(path, READING);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'ENOENT') return 'missing';
    if (NO_FILE.has(errno)) return 'changed';
    throw error;
  }
  try {
    const stats = fstatSync(fd);
    return stats.isFile() && (await sha256Of(fd, stats.size, onProgress)) === sha256 ? 'same' : 'changed';
  } finally {
    closeSync(fd);
  }
}

/** Returns a name in the composed form of Unicode. HFS+ returns names in another form than they were given. */
function composed(name: ByteText): ByteText {
  return byteText(bytesOf(name).toString().normalize());
}

/** Joins two parts of a path, without `./` at its start. */
export function joined(path: ByteText, name: ByteText): ByteText {
  if (path === '.') return name;
  return path.endsWith('/') ? path + name : `${path}/${name}`;
}
