import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { sha256Of } from '../disk/sha256.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { type ByteText, bytesOf, isPlainEntry, readable, readSums, SUMS_NAME } from './read.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** No link is followed, and nothing waited for: whatever stands there instead of the file is not it. */
const READING = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** What open(2) says of links, and of sockets. */
const NO_FILE = new Set(['ELOOP', 'ENXIO', 'EOPNOTSUPP']);

export interface Finding {
  /** `damaged` and `torn` are of a SHA256SUMS itself. */
  readonly result: 'same' | 'missing' | 'changed' | 'unlisted' | 'damaged' | 'torn' | 'unreadable';
  /** For people. */
  readonly path: ByteText;
  /** What is wrong, where the result does not say it. */
  readonly why?: string;
  readonly error?: unknown;
}

/** Told of bytes that were hashed; gives signals and progress a turn. Throws the signal's reason. */
export type Turn = (hashed?: number) => Promise<void>;

export interface SumsDirectory {
  /** For system calls. */
  readonly path: ByteText;
  /** For people. */
  readonly shown: ByteText;
  /** Those that a checksum file is meant to list. */
  readonly names: readonly ByteText[];
}

/** Throws what `turn` throws. */
export async function* verifyDirectory(directory: SumsDirectory, turn: Turn): AsyncGenerator<Finding> {
  const path = joined(directory.shown, SUMS_NAME);
  const sums = await readSums(bytesOf(joined(directory.path, SUMS_NAME)), readable(path)).catch((error) => ({ error }));
  if ('error' in sums) return yield { result: 'unreadable', path, error: sums.error };
  const { entries, unreadable, isTorn } = sums;
  if (unreadable.length > 0) {
    const others = unreadable.length > 1 ? ` and ${unreadable.length - 1} more are unreadable` : ' is unreadable';
    yield { result: 'damaged', path, why: `line ${unreadable[0]}${others}` };
  }
  if (isTorn && entries.size > 0) yield { result: 'torn', path, why: 'the last line is incomplete' };
  if (entries.size === 0 && unreadable.length === 0) yield { result: 'damaged', path, why: 'it has no entries' };
  for (const [name, sha256] of entries) {
    yield await findingOf(name, sha256, directory, turn);
    await turn();
  }
  for (const name of directory.names) {
    if (entries.has(name)) continue;
    yield { result: 'unlisted', path: joined(directory.shown, name) };
    await turn();
  }
}

/** An entry that is no name in its directory is never opened. */
async function findingOf(name: ByteText, sha256: string, directory: SumsDirectory, turn: Turn): Promise<Finding> {
  const path = joined(directory.shown, name);
  if (!isPlainEntry(name)) {
    return { result: 'missing', path, why: 'not a file name in this directory: not opened' };
  }
  try {
    return { result: await checkFile(bytesOf(joined(directory.path, name)), sha256, turn), path };
  } catch (error) {
    if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
    return { result: 'unreadable', path, error };
  }
}

async function checkFile(path: Buffer, sha256: string, turn: Turn): Promise<'same' | 'missing' | 'changed'> {
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
    return stats.isFile() && (await sha256Of(fd, stats.size, turn)) === sha256 ? 'same' : 'changed';
  } finally {
    closeSync(fd);
  }
}

/** For people: without `./` in front. */
export function joined(path: ByteText, name: ByteText): ByteText {
  if (path === '.') return name;
  return path.endsWith('/') ? path + name : `${path}/${name}`;
}
