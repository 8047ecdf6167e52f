import type { Stats } from 'node:fs';
import { otherSpelling } from '../disk/directory/spelling.ts';
import { diskFailure } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import { type PartPlace, shownPath } from './sinks/part/part-place.ts';

export type IfExists = 'skip' | 'overwrite' | 'error';

/** What has the final name already. */
export type Present =
  | { readonly kind: 'file-to-keep'; readonly stat: Stats }
  /** `stat` is of a plain file. */
  | { readonly kind: 'nothing' | 'replaceable'; readonly stat?: Stats };

/** What has a final name, as `judge` says, and no other spelling of it. Throws `local_io`. */
export async function presentAt(place: PartPlace, ifExists: IfExists): Promise<Present> {
  const { directory, final } = place;
  const look = async () => {
    const stat = await directory.disk.look(directory.entry(final));
    return stat && { stat, other: await otherSpelling(directory, final) };
  };
  const found = await look().catch((error) => {
    throw diskFailure(error, shownPath(place));
  });
  if (!found) return { kind: 'nothing' };
  const { stat, other } = found;
  if (other !== undefined) throw sameToTheDisk(shownPath(place), other);
  return judge(stat, ifExists, () => shownPath(place));
}

/**
 * What becomes of what has a final name: a link is replaced, never followed; anything else that is no plain file is left
 * alone. `shown` is the name's path for people. Throws `local_io`.
 */
export function judge(stat: Stats, ifExists: IfExists, shown: () => string): Present {
  if (ifExists === 'error') throw alreadyThere(shown());
  if (stat.isSymbolicLink()) return { kind: 'replaceable' };
  if (!stat.isFile()) throw inTheWay(shown(), stat.isDirectory() ? 'a directory' : 'something that is no file');
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

function alreadyThere(path: string): FilingsError {
  return new FilingsError('local_io', `${path}: it is there already`, {
    hint: '--if-exists skip keeps it, --if-exists overwrite replaces it',
  });
}
