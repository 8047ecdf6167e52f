// For `filings verify`: finds the directories that have a SHA256SUMS, and compares the files of each with it. No
// symbolic link is followed, and no file outside of the directory is opened, because a hostile SHA256SUMS could list
// any path as a name.
import { join, resolve } from 'node:path';
import { openDirectory } from '../disk/calls.ts';
import { isSystemError } from '../disk/failure.ts';
import { isDirectoryEntryName } from '../disk/file-name.ts';
import { isKeptPartName, isWorkingPartName } from '../disk/part-name.ts';
import { hashFile, type OnHashed } from '../disk/sha256.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { isUtf8Path } from '../paths.ts';
import { readSums, SUMS_NAME } from './format.ts';

/** What `hashFile` throws for a link, a socket, a directory or a device. A file that became one has `changed`. */
const NOT_A_FILE_ERRORS = new Set(['ELOOP', 'ENXIO', 'EOPNOTSUPP', 'EISDIR', 'EFTYPE']);

export interface Finding {
  /**
   * The first four are about a file: `unlisted` is one that SHA256SUMS does not have. `damaged` is about a SHA256SUMS
   * that has an invalid line or no entries, or about a directory whose name is not UTF-8. `torn` is about a SHA256SUMS
   * whose last line is incomplete, which is no failure: that line is ignored, so its file may be `unlisted`.
   * `unreadable` may be a file, a SHA256SUMS or a directory.
   */
  readonly result: 'same' | 'missing' | 'changed' | 'unlisted' | 'damaged' | 'torn' | 'unreadable';
  /** The path for display. */
  readonly path: string;
  /** Set if the result alone does not explain the finding. */
  readonly reason?: string;
  /** What to do about a `damaged` finding. */
  readonly hint?: string;
  /** The system error or `local_io` of an `unreadable` finding. */
  readonly error?: unknown;
}

interface SumsDirectory {
  /** Absolute. */
  readonly path: string;
  readonly displayPath: string;
  /** Without SHA256SUMS and the parts of this program. */
  readonly names: readonly string[];
}

/**
 * Searches `roots`, which are paths as the user wrote them, and all directories below them. For a directory that cannot
 * be read, yields a finding and goes on. Only a root may be a symbolic link: other links are treated as files.
 */
export async function* findDirectories(roots: readonly string[], cwd: string): AsyncGenerator<SumsDirectory | Finding> {
  // A stack, so that directories come in the order of a recursive walk. Its end is taken first, so all lists are
  // reversed.
  const waiting = [...roots].reverse();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const absolute = resolve(cwd, path);
    if (!isUtf8Path(absolute)) {
      const reason = 'its path is not UTF-8, so nothing in it was checked';
      yield { result: 'damaged', path: path.replaceAll('\ufffd', '\\ufffd'), reason, hint: 'rename the directory' };
      continue;
    }
    try {
      const { hasSums, names, below } = await readContents(absolute);
      if (hasSums) yield { path: absolute, displayPath: path, names };
      for (const name of below.reverse()) waiting.push(join(path, name));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      yield { result: 'unreadable', path, error };
    }
  }
}

/** `below` are subdirectories, `names` everything else that `verify` looks at. */
async function readContents(path: string) {
  const contents = { hasSums: false, names: [] as string[], below: [] as string[] };
  for await (const entry of await openDirectory(path)) {
    const { name } = entry;
    if (entry.isDirectory()) contents.below.push(name);
    else if (name === SUMS_NAME) contents.hasSums = true;
    // No SHA256SUMS lists the parts of this program, so `verify` would report each as unlisted.
    else if (!isWorkingPartName(name) && !isKeptPartName(name)) contents.names.push(name);
  }
  return contents;
}

/**
 * Yields a finding for each listed and each unlisted file, and for a defective SHA256SUMS. If that cannot be read, it
 * is the only finding. Throws only the signal's reason.
 */
export async function* verifyDirectory(
  { path, displayPath, names }: SumsDirectory,
  platform: string,
  signal: AbortSignal,
  onHashed: OnHashed,
): AsyncGenerator<Finding> {
  const sumsPath = join(displayPath, SUMS_NAME);
  const damaged = (reason: string, hint: string): Finding => ({ result: 'damaged', path: sumsPath, reason, hint });
  /** The last entry for a name applies. As a latin1 string of 32 bytes, a hash takes half the memory of its digits. */
  const hashes = new Map<string, string>();
  let [invalidCount, firstInvalid, isTorn] = [0, 0, false];
  try {
    for await (const lines of readSums(join(path, SUMS_NAME), sumsPath)) {
      for (const line of lines) {
        // Both are copies, because a slice of the line would keep all of it in memory.
        if (line.entry)
          hashes.set(`${Buffer.from(line.entry.name)}`, Buffer.from(line.entry.sha256, 'hex').toString('latin1'));
        else if (line.isTorn) isTorn = true;
        else if (++invalidCount === 1) firstInvalid = line.number;
      }
    }
  } catch (error) {
    return yield error instanceof FilingsError && error.code === 'integrity'
      ? damaged(error.reason, 'delete it, then download again with --checksums')
      : { result: 'unreadable', path: sumsPath, error };
  }
  if (invalidCount > 0) {
    const others = invalidCount > 1 ? ` and ${invalidCount - 1} more are unreadable` : ' is unreadable';
    const hint = 'delete the unreadable lines, then download again with --checksums --if-exists compare';
    yield damaged(`line ${firstInvalid}${others}`, hint);
  } else if (hashes.size === 0)
    yield damaged('it has no entries', 'download again with --checksums, which lists the files');
  if (isTorn) yield { result: 'torn', path: sumsPath, reason: 'its last line is incomplete' };
  for (const [name, hash] of hashes) {
    // The directory and the name, put together without `join`, which would resolve `..` in the name and hide it.
    const entryPath = `${sumsPath.slice(0, -SUMS_NAME.length)}${name}`;
    const sha256 = Buffer.from(hash, 'latin1').toString('hex');
    // An unsafe name is `missing`, even if it leads to a file elsewhere: the directory cannot have a file of that name.
    const reason = 'not opened, because no file in this directory can have this name';
    yield isDirectoryEntryName(name, platform)
      ? { path: entryPath, ...(await checkFile(join(path, name), sha256, signal, onHashed)) }
      : { path: entryPath, result: 'missing', reason };
  }
  for (const name of names) {
    // HFS+ stores `é` as `e` and an accent. The SHA256SUMS has the usual form, to which `normalize` converts.
    if (!hashes.has(name) && !hashes.has(name.normalize())) yield { result: 'unlisted', path: join(displayPath, name) };
  }
}

/** For a listed file. Throws only the signal's reason. */
async function checkFile(
  path: string,
  sha256: string,
  signal: AbortSignal,
  onHashed: OnHashed,
): Promise<Omit<Finding, 'path'>> {
  try {
    return { result: (await hashFile(path, signal, onHashed)) === sha256 ? 'same' : 'changed' };
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (!isSystemError(error)) throw error;
    if (errno === 'ENOENT' || errno === 'ENAMETOOLONG') return { result: 'missing' };
    return NOT_A_FILE_ERRORS.has(errno) ? { result: 'changed' } : { result: 'unreadable', error };
  }
}
