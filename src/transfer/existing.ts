// Collects the facts that `planFile` needs about a final name: the type of the entry, and whether this disk takes the
// name of another entry for the same name.
import { lstatSync, type Stats } from 'node:fs';
import type { Directory, Spellings } from '../disk/directory.ts';
import { twinKey } from '../disk/file-name.ts';
import { sha256OfFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import type { Existing } from './file-plan.ts';

export const NOTHING: Existing = { kind: 'nothing' };

/** Returns the entry that has a final name. Throws the system error. */
export async function findExisting(directory: Directory, finalName: string): Promise<Existing> {
  const stats = await directory.disk.lstat(directory.pathFor(finalName));
  const name = stats && (await findOtherSpellingOnDisk(directory, finalName));
  return name === undefined ? toExisting(stats) : { kind: 'other-spelling', name };
}

/**
 * Returns the entry that has a final name, without a promise, so that a million existing files are skipped quickly.
 * Returns undefined if that is not possible: on a network disk, before the disk is known to distinguish case, and after
 * an error.
 */
export function findExistingSync(directory: Directory, finalName: string): Existing | undefined {
  if (!directory.disk.isLocal) return undefined;
  try {
    const stats = lstatSync(directory.pathFor(finalName), { throwIfNoEntry: false });
    return stats === undefined || directory.isCaseSensitive ? toExisting(stats) : undefined;
  } catch {
    return undefined;
  }
}

function toExisting(stats: Stats | undefined): Existing {
  if (!stats) return NOTHING;
  if (stats.isFile()) return { kind: 'file', stats };
  if (stats.isSymbolicLink()) return { kind: 'link', stats };
  return { kind: stats.isDirectory() ? 'directory' : 'special', stats };
}

/**
 * Returns the SHA-256 of an existing file. Throws `integrity` if the hash is not the expected one, `local_io` or the
 * signal's reason.
 */
export async function checkExisting(
  path: string,
  displayPath: string,
  expected: string,
  signal: AbortSignal,
): Promise<string> {
  const sha256 = await sha256OfFile(path, displayPath, signal);
  requireHash(sha256, expected, displayPath);
  return sha256;
}

/**
 * Throws `integrity` if a hash is not the expected one. `path` is the path of a file that this run did not download.
 */
export function requireHash(actual: string, expected: string = actual, path?: string): void {
  if (actual === expected) return;
  throw new FilingsError('integrity', `wrong hash: its SHA-256 is ${actual}, not ${expected}`, {
    subject: { path },
    hint: { advice: 'check-hash' },
  });
}

/**
 * Returns the name of the entry that a disk without case takes for `name`, or undefined if the disk distinguishes case
 * or the entry is called `name`. Throws the system error.
 */
async function findOtherSpellingOnDisk(directory: Directory, name: string): Promise<string | undefined> {
  if (directory.isCaseSensitive) return undefined;
  const variants = [name.toUpperCase(), name.toLowerCase()].filter((variant) => variant !== name);
  for (const variant of variants) {
    if (await directory.disk.lstat(directory.pathFor(variant)))
      return findOtherSpelling(await readSpellings(directory, name), name);
  }
  // A disk that ignores any case ignores that of ASCII, so one ASCII name that it distinguishes proves the rest.
  directory.isCaseSensitive = variants.length > 0 && /^[\0-\x7f]*$/.test(name);
  return undefined;
}

/** Returns the spellings in a directory. Reads it again only if an entry for `name` was created meanwhile. */
async function readSpellings(directory: Directory, name: string): Promise<Spellings> {
  const cached = directory.spellings;
  if (cached?.has(twinKey(name))) return cached;
  directory.spellings = await collectSpellings(directory.names());
  return directory.spellings;
}

/** Returns the names of a directory, grouped by the key that names share if some disk takes them for one. */
export async function collectSpellings(names: Iterable<string> | AsyncIterable<string>): Promise<Spellings> {
  const spellings = new Map<string, string>();
  for await (const name of names) {
    const key = twinKey(name);
    const others = spellings.get(key);
    spellings.set(key, others === undefined ? name : `${others}/${name}`);
  }
  return spellings;
}

/**
 * Returns the name of the entry that a disk without case takes for `name`. Returns undefined if there is none, or if
 * `name` itself is an entry. HFS+ stores a name as letters and separate accents (NFD), which is the same name.
 */
export function findOtherSpelling(spellings: Spellings, name: string): string | undefined {
  const entries = spellings.get(twinKey(name))?.split('/') ?? [];
  return entries.some((entry) => entry.normalize() === name.normalize()) ? undefined : entries.at(-1);
}
