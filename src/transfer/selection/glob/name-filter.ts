import { FilingsError } from '../../../errors.ts';
import { shortened } from '../../../text.ts';
import { compileGlob } from './glob.ts';

/**
 * Which names of a listing are chosen: those that any `include` matches (all, when there
 * is none) and no `exclude` does. Globs are case-sensitive and match whole names; `*` matches
 * dots at the beginning too, and slashes, since a name is no path. Throws `usage`.
 */
export function nameFilter(include: readonly string[], exclude: readonly string[]): (name: string) => boolean {
  const included = include.map((glob) => matcher('--include', glob));
  const excluded = exclude.map((glob) => matcher('--exclude', glob));
  return (name) => {
    if (included.length > 0 && !included.some((matches) => matches(name))) return false;
    return !excluded.some((matches) => matches(name));
  };
}

function matcher(flag: string, glob: string): (name: string) => boolean {
  const matches = compileGlob(glob);
  // The name itself always matches, whatever its brackets would mean.
  if (typeof matches === 'function') return (name) => name === glob || matches(name);
  throw new FilingsError('usage', `${flag} '${shortened(glob, 100)}': ${matches.reason}`, {
    hint: matches.hint ?? "a pattern is such as 'ex*.htm' or '*.{xml,xsd}'",
  });
}
