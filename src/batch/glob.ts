import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

/**
 * Chooses what any `include` matches (all, when there is none) and no `exclude` does. Globs match whole names and are
 * case-sensitive; `*` also matches slashes and a dot at the beginning, since a name is no path. Throws `usage`.
 */
export function nameFilter(include: readonly string[], exclude: readonly string[]): (name: string) => boolean {
  const included = include.map((glob) => matcher('--include', glob));
  const excluded = exclude.map((glob) => matcher('--exclude', glob));
  const isIncluded = (name: string) => included.length === 0 || included.some((matches) => matches(name));
  return (name) => isIncluded(name) && !excluded.some((matches) => matches(name));
}

/** One character of a name; `*` is any number of any. */
type Token = '*' | ((character: string) => boolean);

const MAX_LENGTH = 1000;
const MAX_CHOICES = 1000;
const WORDS = /\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|./gsu;

function matcher(flag: string, glob: string): (name: string) => boolean {
  try {
    if (glob === '') throw new SyntaxError('it is empty');
    if (glob.length > MAX_LENGTH) throw new SyntaxError(`it is longer than ${MAX_LENGTH} characters`);
    const choices = withoutBraces(glob.match(WORDS) ?? []).map((words) => words.map(tokenOf));
    // A name matches itself, whatever its brackets would mean.
    return (name) => name === glob || choices.some((tokens) => matchesAll(tokens, [...name]));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new FilingsError('usage', error.message, {
      subject: { name: `${flag} '${shortened(glob, 100)}'` },
      hint: "a pattern is such as 'ex*.htm' or '*.{xml,xsd}'; a backslash before a character takes it literally",
    });
  }
}

/** With its braces written out, from the innermost: a name matches one of the choices. */
function withoutBraces(words: readonly string[]): (readonly string[])[] {
  const start = words.lastIndexOf('{');
  if (start === -1) return [words];
  const end = words.indexOf('}', start);
  if (end === -1) throw new SyntaxError("a '{' is not closed");
  const inside = words.slice(start + 1, end);
  if (inside.join('').includes('..')) throw new SyntaxError(`the range {${inside.join('')}} is not supported`);
  const commas = inside.flatMap((word, at) => (word === ',' ? at : []));
  const choices = [...commas, inside.length].map((to, nth) => inside.slice((commas[nth - 1] ?? -1) + 1, to));
  const all = choices.flatMap((choice) =>
    withoutBraces([...words.slice(0, start), ...choice, ...words.slice(end + 1)]),
  );
  if (all.length > MAX_CHOICES) throw new SyntaxError(`its braces make more than ${MAX_CHOICES} patterns`);
  return all;
}

function tokenOf(word: string): Token {
  if (word === '*') return word;
  if (word === '?') return () => true;
  if (word === '\\') throw new SyntaxError("nothing follows the '\\' at its end");
  if (word.startsWith('[')) return characterClass(word);
  const literal = word.startsWith('\\') ? word.slice(1) : word;
  return (character) => character === literal;
}

/** A `]` at the beginning and a dash at either end mean themselves. */
function characterClass(word: string): Token {
  const [, negation = '', members = ''] = /^\[([!^]?)(.*)\]$/su.exec(word) ?? [];
  if (members === '') throw new SyntaxError("a '[' is not closed");
  if (members.includes('[:')) throw new SyntaxError(`${word} is not supported: use a range, such as [0-9]`);
  const escaped = members.replace(/\\(.)|[[\]^]/gsu, (found, character = found) =>
    /[\\[\]^-]/.test(character) ? `\\${character}` : character,
  );
  const one = new RegExp(`^[${negation && '^'}${escaped}]$`, 'su');
  return (character) => one.test(character);
}

/** Takes at most the name's length times the glob's: only the last `*` ever takes one character more. */
function matchesAll(tokens: readonly Token[], name: readonly string[]): boolean {
  let [at, token] = [0, 0];
  let star = { token: -1, at: 0 };
  while (at < name.length) {
    const test = tokens[token];
    if (test === '*') {
      star = { token, at };
      token += 1;
    } else if (test?.(name[at] ?? '')) {
      at += 1;
      token += 1;
    } else if (star.token >= 0) {
      star.at += 1;
      [at, token] = [star.at, star.token + 1];
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === '*');
}

/** The error if no file of a filing is chosen. */
export function noMatch(accession: string, files: number): FilingsError {
  const none = files === 1 ? 'its one file does not match' : `none of its ${files} files matches`;
  return new FilingsError('not_found', `${none} --include and --exclude (matching is case-sensitive)`, {
    subject: { name: accession },
    hint: 'see what there is with filings list',
  });
}
