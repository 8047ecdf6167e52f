import type { Stats } from 'node:fs';
import type { Directory } from '../disk/directory.ts';
import { diskFailure } from '../disk/failure.ts';
import { twinKey } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';

export type IfExists = 'skip' | 'compare' | 'overwrite' | 'error';

/**
 * What becomes of a final name: `keep`: the file that has it already; `compare`: that, if the one that is fetched is the
 * same; `write`: it is written. `stats` are of a regular file that has the name.
 */
export type Present =
  | { readonly kind: 'keep' | 'compare'; readonly stats: Stats }
  | { readonly kind: 'write'; readonly stats?: Stats };

/** What becomes of a name in a directory, as `judge` says; another spelling of it is refused. Throws `local_io`. */
export async function presentAt(directory: Directory, final: string, ifExists: IfExists): Promise<Present> {
  const path = directory.entry(final);
  try {
    const stats = await directory.disk.look(path);
    if (!stats) return { kind: 'write' };
    const other = await otherSpelling(directory, final);
    if (other !== undefined) throw sameToTheDisk(path, other);
    return judge(stats, ifExists, path);
  } catch (error) {
    throw diskFailure(error, path);
  }
}

/** The table of what may have a final name: `overwrite` replaces a link, too; otherwise nothing but a regular file is left there. Throws `local_io`. */
export function judge(stats: Stats, ifExists: IfExists, path: string): Present {
  if (ifExists === 'error') throw exists(path);
  if (ifExists === 'overwrite' && stats.isSymbolicLink()) return { kind: 'write' };
  if (!stats.isFile()) throw inTheWay(path, stats);
  if (ifExists === 'overwrite') return { kind: 'write', stats };
  return { kind: ifExists === 'skip' ? 'keep' : 'compare', stats };
}

/** A file that has the name and is not the one that came. Sizes in bytes. */
export function differs(path: string, existing: number, fetched: number): FilingsError {
  const sizes = existing === fetched ? `both have ${existing} bytes` : `it has ${existing} bytes, this one ${fetched}`;
  return new FilingsError('local_io', `${path}: a different file already exists: ${sizes}`, {
    hint: 'choose another place with --layout or -d, or replace it with --if-exists overwrite',
  });
}

function sameToTheDisk(path: string, other: string): FilingsError {
  return new FilingsError('local_io', `${path}: '${other}' exists, and this disk takes both names for one`, {
    hint: 'choose another place, or another name: -o PATH',
  });
}

function inTheWay(path: string, stats: Stats): FilingsError {
  const what = stats.isDirectory() ? 'a directory' : stats.isSymbolicLink() ? 'a link' : 'something that is no file';
  return new FilingsError('local_io', `${path}: cannot write: ${what} is in the way`, {
    hint: 'move it away, or choose another place with --output or --directory',
  });
}

function exists(path: string): FilingsError {
  return new FilingsError('local_io', `${path}: it already exists`, {
    hint: '--if-exists skip keeps it, --if-exists overwrite replaces it',
  });
}

/**
 * How an entry is really spelled that a look-up of `name` finds: some disks take several names for one, by case or
 * by Unicode form. Undefined: exactly so, or not at all. Throws what the system says.
 */
export async function otherSpelling(directory: Directory, name: string): Promise<string | undefined> {
  const exists = async (spelling: string) => (await directory.disk.look(directory.entry(spelling))) !== undefined;
  // A disk that folds any case folds that of ASCII: the first name that it tells apart speaks for all.
  const isAscii = /^[\0-\x7f]*$/.test(name);
  if (isAscii && directory.tellsCase) return undefined;
  const forms = isAscii ? [] : [name.normalize('NFC'), name.normalize('NFD')];
  const variants = new Set([name.toUpperCase(), name.toLowerCase(), ...forms]);
  variants.delete(name);
  for (const variant of variants) if (await exists(variant)) return spelledOtherwise(directory.names(), name);
  // With the name gone meanwhile, not finding its variant says nothing.
  if (isAscii && variants.size > 0 && (await exists(name))) directory.tellsCase = true;
  return undefined;
}

/** The entry that a folding disk takes for `name`; undefined when `name` itself is among them, or none is. */
export async function spelledOtherwise(
  names: Iterable<string> | AsyncIterable<string>,
  name: string,
): Promise<string | undefined> {
  const key = twinKey(name);
  let other: string | undefined;
  for await (const entry of names) {
    if (entry === name) return undefined;
    if (other === undefined && twinKey(entry) === key) other = entry;
  }
  return other;
}
