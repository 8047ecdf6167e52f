import type { Stats } from 'node:fs';
import type { Directory } from '../disk/directory.ts';
import { twinKey } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';

export type IfExists = 'skip' | 'compare' | 'overwrite' | 'error';

/**
 * What has a final name, as `requirePlace` allows it. Another spelling of the name is refused. Throws `local_io`, what
 * the system says.
 */
export async function presentAt(directory: Directory, final: string, ifExists: IfExists): Promise<Stats | undefined> {
  const path = directory.entry(final);
  const stats = await directory.disk.look(path);
  if (!stats) return undefined;
  const other = await otherSpelling(directory, final);
  if (other !== undefined) {
    throw new FilingsError('local_io', `${path}: '${other}' exists, and this disk takes both names for one`, {
      hint: 'choose another place, or another name: -o PATH',
    });
  }
  requirePlace(stats, ifExists, path);
  return stats;
}

/** Allows a regular file, or a link that `overwrite` replaces. Throws `local_io`. */
export function requirePlace(stats: Stats, ifExists: IfExists, path: string): void {
  if (ifExists === 'error') {
    throw new FilingsError('local_io', `${path}: it already exists`, {
      hint: '--if-exists skip keeps it, --if-exists overwrite replaces it',
    });
  }
  if (stats.isFile() || (ifExists === 'overwrite' && stats.isSymbolicLink())) return;
  const what = stats.isDirectory() ? 'a directory' : stats.isSymbolicLink() ? 'a symbolic link' : 'a special file';
  throw new FilingsError('local_io', `${path}: cannot write: ${what} already exists there`, {
    hint: 'move it away, or choose another place with --output or --directory',
  });
}

/** Sizes in bytes. */
export function differs(path: string, existing: number, fetched: number): FilingsError {
  const sizes = existing === fetched ? `both have ${existing} bytes` : `it has ${existing} bytes, this one ${fetched}`;
  return new FilingsError('local_io', `${path}: a different file already exists: ${sizes}`, {
    hint: 'choose another place with -o, --layout or -d, or replace it with --if-exists overwrite',
  });
}

/** Some disks take several names for one. Undefined: spelled exactly so. Throws what the system says. */
async function otherSpelling(directory: Directory, name: string): Promise<string | undefined> {
  if (directory.tellsCase) return undefined;
  const variants = [name.toUpperCase(), name.toLowerCase()].filter((variant) => variant !== name);
  for (const variant of variants) {
    if (await directory.disk.look(directory.entry(variant))) return spelledOtherwise(directory.names(), name);
  }
  // A disk that folds any case folds that of ASCII: the first such name that it tells apart speaks for all.
  directory.tellsCase = variants.length > 0 && /^[\0-\x7f]*$/.test(name);
  return undefined;
}

/** The entry that a folding disk takes for `name`; undefined when `name` itself is there, or none is. */
export async function spelledOtherwise(
  names: Iterable<string> | AsyncIterable<string>,
  name: string,
): Promise<string | undefined> {
  const key = twinKey(name);
  let other: string | undefined;
  for await (const entry of names) {
    if (entry === name) return undefined;
    if (twinKey(entry) === key) other = entry;
  }
  return other;
}
