// Globs for `--include` and `--exclude`. They are compiled once and match whole names in bounded time, because the
// service chooses the names.
import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

/**
 * Returns whether a name matches any glob of `include`, or there is none, and no glob of `exclude`. Globs match whole
 * names and are case-sensitive. `*` also matches slashes and a leading dot, because a name is not a path. Throws
 * `usage` for an invalid glob.
 */
export function nameFilter(include: readonly string[], exclude: readonly string[]): (name: string) => boolean {
  const included = include.map((glob) => compileGlob('--include', glob));
  const excluded = exclude.map((glob) => compileGlob('--exclude', glob));
  const isIncluded = (name: string) => included.length === 0 || included.some((matches) => matches(name));
  return (name) => isIncluded(name) && !excluded.some((matches) => matches(name));
}

/** Matches one character of a name; `*` matches any number of characters. */
type Token = '*' | ((character: string) => boolean);

const MAX_CHOICES = 1000;
const WORDS = /\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|./gsu;

function compileGlob(flag: string, glob: string): (name: string) => boolean {
  try {
    if (glob === '') throw new SyntaxError('it is empty');
    const choices = expandBraces(glob.match(WORDS) ?? []).map((words) => words.map(parseToken));
    // A glob that is the name itself matches, although its brackets may have another meaning.
    return (name) => name === glob || choices.some((tokens) => matchesAll(tokens, [...name]));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new FilingsError('usage', error.message, {
      subject: { name: `${flag} '${shortened(glob, 100)}'` },
      hint: "write a pattern such as 'ex*.htm' or '*.{xml,xsd}'; a backslash makes the next character literal",
    });
  }
}

/** Expands braces, the innermost first. Returns all choices, of which a name matches one. */
function expandBraces(words: readonly string[]): (readonly string[])[] {
  const start = words.lastIndexOf('{');
  if (start === -1) return [words];
  const end = words.indexOf('}', start);
  if (end === -1) throw new SyntaxError("a '{' is not closed");
  const inside = words.slice(start + 1, end);
  if (inside.join('').includes('..')) throw new SyntaxError(`the range {${inside.join('')}} is not supported`);
  const commas = inside.flatMap((word, index) => (word === ',' ? index : []));
  const choices = [...commas, inside.length].map((to, nth) => inside.slice((commas[nth - 1] ?? -1) + 1, to));
  const all = choices.flatMap((choice) => expandBraces([...words.slice(0, start), ...choice, ...words.slice(end + 1)]));
  if (all.length > MAX_CHOICES) throw new SyntaxError(`its braces make more than ${MAX_CHOICES} patterns`);
  return all;
}

function parseToken(word: string): Token {
  if (word === '*') return word;
  if (word === '?') return () => true;
  if (word === '\\') throw new SyntaxError("nothing follows the '\\' at its end");
  if (word.startsWith('[')) return parseClass(word);
  const literal = word.startsWith('\\') ? word.slice(1) : word;
  return (character) => character === literal;
}

/** Returns the test of a character class. A leading `]`, and a dash at either end, are literal. */
function parseClass(word: string): Token {
  const [, negation = '', members = ''] = /^\[([!^]?)(.*)\]$/su.exec(word) ?? [];
  if (members === '') throw new SyntaxError("a '[' is not closed");
  if (members.includes('[:')) throw new SyntaxError(`${word} is not supported: use a range, such as [0-9]`);
  const escaped = members.replace(/\\(.)|[[\]^]/gsu, (match, character = match) =>
    /[\\[\]^-]/.test(character) ? `\\${character}` : character,
  );
  const member = new RegExp(`^[${negation && '^'}${escaped}]$`, 'su');
  return (character) => member.test(character);
}

/** Takes at most the name's length times the glob's in steps, because only the last `*` is ever extended. */
function matchesAll(tokens: readonly Token[], name: readonly string[]): boolean {
  let [index, token] = [0, 0];
  let star = { token: -1, index: 0 };
  while (index < name.length) {
    const test = tokens[token];
    if (test === '*') {
      star = { token, index };
      token += 1;
    } else if (test?.(name[index] ?? '')) {
      index += 1;
      token += 1;
    } else if (star.token >= 0) {
      star.index += 1;
      [index, token] = [star.index, star.token + 1];
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === '*');
}

/** Returns the error for a filing without a matching file. `files` is the number of its files. */
export function noMatchError(accession: string, files: number): FilingsError {
  const reason = files === 1 ? 'its one file does not match' : `none of its ${files} files matches`;
  return new FilingsError('not_found', `${reason} --include and --exclude (matching is case-sensitive)`, {
    subject: { name: accession },
    hint: `to see its files: filings list ${accession}`,
  });
}
