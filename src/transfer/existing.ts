import { lstatSync, type Stats } from 'node:fs';
import type { Directory, Spellings } from '../disk/directory.ts';
import { twinKey } from '../disk/file-name.ts';
import { sha256OfFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import type { Existing } from './file-plan.ts';

// Collects what `planFile` has to know of a final name.

export const NOTHING: Existing = { kind: 'nothing' };

/** Returns what has a final name. Throws the system error. */
export async function existingAt(directory: Directory, final: string): Promise<Existing> {
  const stats = await directory.disk.lstat(directory.entry(final));
  const name = stats && (await otherSpelling(directory, final));
  return name === undefined ? existingOf(stats) : { kind: 'other-spelling', name };
}

/**
 * As `existingAt`, but without a promise, so that a million existing files are passed over quickly. Returns undefined
 * if that is not possible: on a network disk, before the disk is known to distinguish case, and after an error.
 */
export function existingNow(directory: Directory, final: string): Existing | undefined {
  if (!directory.disk.isLocal) return undefined;
  try {
    const stats = lstatSync(directory.entry(final), { throwIfNoEntry: false });
    return stats === undefined || directory.isCaseSensitive ? existingOf(stats) : undefined;
  } catch {
    return undefined;
  }
}

function existingOf(stats: Stats | undefined): Existing {
  if (!stats) return NOTHING;
  if (stats.isFile()) return { kind: 'file', stats };
  if (stats.isSymbolicLink()) return { kind: 'link', stats };
  return { kind: stats.isDirectory() ? 'directory' : 'special', stats };
}

/** Returns the hash of an existing file. Throws `integrity` if it is not the expected one, `local_io`, the signal's reason. */
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

/** Throws `integrity`. `path` names a file that did not come from the service just now. */
export function requireHash(found: string, expected: string = found, path?: string): void {
  if (found === expected) return;
  throw new FilingsError('integrity', `wrong hash: its SHA-256 is ${found}, not ${expected}`, {
    subject: { path },
    hint: { advice: 'check-hash' },
  });
}

/** Returns the entry that a folding disk takes for `name`, undefined if there is none. Throws the system error. */
async function otherSpelling(directory: Directory, name: string): Promise<string | undefined> {
  if (directory.isCaseSensitive) return undefined;
  const variants = [name.toUpperCase(), name.toLowerCase()].filter((variant) => variant !== name);
  for (const variant of variants) {
    if (await directory.disk.lstat(directory.entry(variant)))
      return spelledOtherwise(await spellingsIn(directory, name), name);
  }
  // A disk that folds any case folds that of ASCII: the first such name that it tells apart speaks for all.
  directory.isCaseSensitive = variants.length > 0 && /^[\0-\x7f]*$/.test(name);
  return undefined;
}

/** Returns the spellings of a directory, which is read again only if an entry for `name` was made meanwhile. */
async function spellingsIn(directory: Directory, name: string): Promise<Spellings> {
  const known = directory.spellings;
  if (known?.has(twinKey(name))) return known;
  directory.spellings = await spellingsOf(directory.names());
  return directory.spellings;
}

/** Collects the names of a directory by what those have in common that a disk may take for one. */
export async function spellingsOf(names: Iterable<string> | AsyncIterable<string>): Promise<Spellings> {
  const spellings = new Map<string, string>();
  for await (const name of names) {
    const key = twinKey(name);
    const others = spellings.get(key);
    spellings.set(key, others === undefined ? name : `${others}/${name}`);
  }
  return spellings;
}

/**
 * Returns the entry that a folding disk takes for `name`; undefined if there is none, or `name` itself is there. HFS+
 * takes a name apart into letters and accents (NFD), which is the same name.
 */
export function spelledOtherwise(spellings: Spellings, name: string): string | undefined {
  const entries = spellings.get(twinKey(name))?.split('/') ?? [];
  return entries.some((entry) => entry.normalize() === name.normalize()) ? undefined : entries.at(-1);
}
