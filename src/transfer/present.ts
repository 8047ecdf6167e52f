import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { otherSpelling } from '../disk/directory/spelling.ts';
import { diskFailure } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { type PartPlace, shownPath } from './sinks/part/part-place.ts';

export type IfExists = 'skip' | 'overwrite' | 'error';

/** What has the final name already. */
export type Present =
  | { readonly kind: 'file-to-keep'; readonly stat: Stats }
  /** `stat` is of a plain file. */
  | { readonly kind: 'nothing' | 'replaceable'; readonly stat?: Stats };

/** A final link is replaced, never followed; anything else that is no plain file is left alone. Throws `local_io`. */
export async function presentAt(place: PartPlace, ifExists: IfExists): Promise<Present> {
  const { directory, final } = place;
  const path = shownPath(place);
  const look = async () => ({
    stat: await lstat(directory.entry(final)),
    other: await otherSpelling(directory, final),
  });
  const found = await look().catch((error) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw diskFailure(error, path);
  });
  if (!found) return { kind: 'nothing' };
  const { stat, other } = found;
  if (other !== undefined) throw sameToTheDisk(path, other);
  if (ifExists === 'error') throw alreadyThere(path);
  if (stat.isSymbolicLink()) return { kind: 'replaceable' };
  if (!stat.isFile()) throw inTheWay(path, stat.isDirectory() ? 'a directory' : 'something that is no file');
  return { kind: ifExists === 'skip' ? 'file-to-keep' : 'replaceable', stat };
}

function sameToTheDisk(path: string, other: string): FilingsError {
  return new FilingsError('local_io', `${path}: '${other}' is there, and this disk takes both names for one`, {
    hint: 'choose another place, or another name: -o PATH',
  });
}

function inTheWay(path: string, what: string): FilingsError {
  return new FilingsError('local_io', `${path}: cannot write: ${what} is in the way`, {
    hint: 'move it away, or choose another place with --output or --directory',
  });
}

/** What `--if-exists error` says of a file that is there. */
export function alreadyThere(path: string): FilingsError {
  return new FilingsError('local_io', `${path}: it is there already`, {
    hint: '--if-exists skip keeps it, --if-exists overwrite replaces it',
  });
}
