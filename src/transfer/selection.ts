import picomatch from 'picomatch';
import { FilingsError } from '../errors.ts';

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
  try {
    const matches = picomatch(withoutSlashes(glob), { dot: true, windows: false });
    // The name itself always matches, whatever its brackets would mean.
    return (name) => name === glob || matches(withoutSlashes(name));
  } catch (cause) {
    const reason = glob === '' ? 'it is empty' : 'it is no pattern that can be used';
    throw new FilingsError('usage', `${flag} '${glob.slice(0, 100)}': ${reason}`, {
      hint: "a pattern is such as 'ex*.htm' or '*.{xml,xsd}'",
      cause,
    });
  }
}

/** A private-use character takes the slash's place: to the matcher, a slash would end a directory. */
function withoutSlashes(text: string): string {
  return text.replaceAll('/', '\uf8ff');
}
