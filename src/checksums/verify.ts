import { createHash, hash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, openSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { type ByteText, bytesOf, readable } from '../disk/byte-text.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { isPlainEntry, readSums, SUMS_NAME, type SumsEntry } from './read.ts';

const readAt = promisify(read);
const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, S_IFMT, S_IFREG } = constants;
/** No link is followed, and nothing waited for: whatever stands there instead of the file is not it. */
const READING = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** What open(2) says of links, and of sockets. */
const NO_FILE = new Set(['ELOOP', 'EMLINK', 'ENXIO', 'EOPNOTSUPP']);
/** A file up to this size is read by one synchronous call: a third of the time that asynchronous reads take. */
const BLOCK_BYTES = 1 << 20;

export interface FileFinding {
  /** `damaged` and `torn` are of a SHA256SUMS itself. */
  readonly result: 'missing' | 'changed' | 'unlisted' | 'damaged' | 'torn';
  readonly path: ByteText;
  /** What is wrong, where the result does not say it. */
  readonly why?: string;
}

export interface Unreadable {
  readonly result: 'unreadable';
  readonly path: ByteText;
  readonly error: unknown;
}

/** What was found of a file; `path` is for people. */
export type Finding = FileFinding | Unreadable;

/** Gives signals and progress a turn when it is time. Throws the signal's reason. */
export type Turn = () => Promise<void>;

export interface Checking {
  /** Told of each file that is as listed. */
  readonly same: () => void;
  /** Told of bytes that were hashed. */
  readonly hashed: (bytes: number) => void;
  readonly turn: Turn;
}

/** A directory that has a SHA256SUMS. */
export interface SumsDirectory {
  /** For system calls. */
  readonly path: ByteText;
  /** For people. */
  readonly shown: ByteText;
  /** The files in it that a checksum file is meant to list. */
  readonly names: readonly ByteText[];
}

/** What a SHA256SUMS says. */
interface Sums {
  /** What each name must hash to: the last entry of a name counts. */
  readonly entries: Map<ByteText, string>;
  /** How many lines are unreadable, and the first of them. */
  readonly unreadable: { readonly count: number; readonly first: number };
  /** A last line that no line break ends; it may be an entry, or the beginning of one. */
  readonly last: SumsEntry | 'unreadable' | undefined;
}

/** Hashes what a directory's SHA256SUMS lists, and tells what is not as listed. Throws what `turn` throws. */
export async function* verifyDirectory(directory: SumsDirectory, checking: Checking): AsyncGenerator<Finding> {
  const path = joined(directory.shown, SUMS_NAME);
  const sums = await sumsOf(directory).catch((error: unknown) => ({ error }));
  if ('error' in sums) return yield { result: 'unreadable', path, error: sums.error };
  const { entries, unreadable, last } = sums;
  if (unreadable.count > 0) {
    const others = unreadable.count > 1 ? ` and ${unreadable.count - 1} more are unreadable` : ' is unreadable';
    yield { result: 'damaged', path, why: `line ${unreadable.first}${others}` };
  }
  if (isWhole(last, entries, directory)) entries.set(last.name, last.sha256);
  else if (last !== undefined && entries.size > 0) yield { result: 'torn', path, why: 'the last line is incomplete' };
  if (entries.size === 0 && unreadable.count === 0) yield { result: 'damaged', path, why: 'it has no entries' };
  for (const [name, sha256] of entries) {
    const finding = await findingOf(name, sha256, directory, checking);
    if (finding) yield finding;
    else checking.same();
    await checking.turn();
  }
  for (const name of directory.names) {
    if (entries.has(name)) continue;
    yield { result: 'unlisted', path: joined(directory.shown, name) };
    await checking.turn();
  }
}

async function sumsOf({ path, shown }: SumsDirectory): Promise<Sums> {
  const entries = new Map<ByteText, string>();
  let [count, first] = [0, 0];
  let last: Sums['last'];
  for await (const lines of readSums(bytesOf(joined(path, SUMS_NAME)), readable(joined(shown, SUMS_NAME)))) {
    for (const { number, entry, ended } of lines) {
      if (!ended) last = entry ?? 'unreadable';
      else if (entry) entries.set(entry.name, entry.sha256);
      else if (++count === 1) first = number;
    }
  }
  return { entries, unreadable: { count, first }, last };
}

/** Whether a last line lacks its line break alone: a torn one may hold half a name, of no file or of one that is listed. */
function isWhole(last: Sums['last'], entries: Sums['entries'], directory: SumsDirectory): last is SumsEntry {
  if (last === undefined || last === 'unreadable' || entries.has(last.name) || !isPlainEntry(last.name)) return false;
  return existsSync(bytesOf(joined(directory.path, last.name)));
}

/** Undefined: the file is as listed. An entry that is no name in its directory is never opened: no file can be what is listed. */
async function findingOf(
  name: ByteText,
  sha256: string,
  directory: SumsDirectory,
  { hashed, turn }: Checking,
): Promise<Finding | undefined> {
  if (!isPlainEntry(name)) {
    return {
      result: 'missing',
      path: `${directory.shown}/${name}`,
      why: 'not a file name in this directory: not opened',
    };
  }
  const path = joined(directory.shown, name);
  try {
    const result = await checkFile(bytesOf(joined(directory.path, name)), sha256, hashed, turn);
    return result === 'same' ? undefined : { result, path };
  } catch (error) {
    if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
    return { result: 'unreadable', path, error };
  }
}

async function checkFile(
  path: Buffer,
  sha256: string,
  hashed: (bytes: number) => void,
  turn: Turn,
): Promise<'same' | 'missing' | 'changed'> {
  let fd: number;
  try {
    fd = openSync(path, READING);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'ENOENT' || errno === 'ENAMETOOLONG') return 'missing';
    if (NO_FILE.has(errno)) return 'changed';
    throw error;
  }
  try {
    const { size, mode } = fstatSync(fd);
    if ((mode & S_IFMT) !== S_IFREG) return 'changed';
    const found = size < BLOCK_BYTES ? hashSmall(fd, size, hashed) : await hashLarge(fd, hashed, turn);
    return found === sha256 ? 'same' : 'changed';
  } finally {
    closeSync(fd);
  }
}

/** One that grows meanwhile is hashed with what came: it is not what was listed. */
function hashSmall(fd: number, size: number, hashed: (bytes: number) => void): string {
  const buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (let bytes = -1; bytes !== 0 && length < buffer.length; length += bytes) {
    bytes = readSync(fd, buffer, length, buffer.length - length, null);
  }
  hashed(length);
  return hash('sha256', buffer.subarray(0, length));
}

/** Hashes each block while the next one is read. */
async function hashLarge(fd: number, hashed: (bytes: number) => void, turn: Turn): Promise<string> {
  const sum = createHash('sha256');
  let [block, next] = [Buffer.allocUnsafe(BLOCK_BYTES), Buffer.allocUnsafe(BLOCK_BYTES)];
  let reading = readAt(fd, block, 0, BLOCK_BYTES, null);
  try {
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) return sum.digest('hex');
      reading = readAt(fd, next, 0, BLOCK_BYTES, null);
      sum.update(block.subarray(0, bytesRead));
      hashed(bytesRead);
      [block, next] = [next, block];
      await turn();
    }
  } finally {
    // The descriptor is closed next, and its number may be another file's then.
    await reading.catch(() => {});
  }
}

/** A name below a path, for people: without `./` in front. */
export function joined(path: ByteText, name: ByteText): ByteText {
  if (path === '.') return name;
  return path.endsWith('/') ? path + name : `${path}/${name}`;
}
