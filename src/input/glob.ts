// Globs for `--include` and `--exclude`. A glob is split into words, its braces are expanded, and each choice becomes a
// list of tokens that is compared with whole names. It is not translated into one regular expression, because names come
// from the service and could make such an expression run for minutes.
import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

/**
 * Returns a function that tests a name. A name passes if it matches a glob of `include`, or `include` is empty, and if it
 * matches no glob of `exclude`. Globs are case-sensitive. `*` matches slashes and a leading dot as well, because a name
 * is not a path. Throws `usage` for an invalid glob.
 */
export function compileNameFilter(include: readonly string[], exclude: readonly string[]): (name: string) => boolean {
  const included = include.map((glob) => compileGlob('--include', glob));
  const excluded = exclude.map((glob) => compileGlob('--exclude', glob));
  const isIncluded = (name: string) => included.length === 0 || included.some((matches) => matches(name));
  return (name) => isIncluded(name) && !excluded.some((matches) => matches(name));
}

/** A test of one character, or `*` for any number of characters. */
type Token = '*' | ((character: string) => boolean);

/** Braces multiply: without a limit, twenty `{a,b}` in a row would make a million patterns. */
const MAX_CHOICES = 1000;
/** A word is an escaped character, a character class or any other single character. */
const WORDS = /\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|./gsu;

function compileGlob(flag: string, glob: string): (name: string) => boolean {
  try {
    if (glob === '') throw new SyntaxError('it is empty');
    const choices = expandBraces(glob.match(WORDS) ?? []).map((words) => words.map(parseToken));
    // A name matches itself, even if it has brackets or braces that mean something in a glob.
    return (name) => name === glob || choices.some((tokens) => matchesAll(tokens, [...name]));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new FilingsError('usage', error.message, {
      subject: { name: `${flag} '${shortened(glob, 100)}'` },
      hint: "write a pattern such as 'ex*.htm' or '*.{xml,xsd}'; a backslash makes the next character literal",
    });
  }
}

/** Expands braces, the innermost first: `a{b,c}` becomes `ab` and `ac`. */
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
  if (all.length > MAX_CHOICES) throw new SyntaxError(`the braces expand to more than ${MAX_CHOICES} patterns`);
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

/** Parses a character class. As in POSIX, a leading `]` and a dash at either end are literal. */
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

/**
 * When a character does not match, only the last `*` is extended by one character. So the number of steps is at most the
 * length of the name times the number of tokens.
 */
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

/** Returns the error for a filing that has `files` files, none of which matches. */
export function noMatchError(accession: string, files: number): FilingsError {
  const reason = files === 1 ? 'its one file does not match' : `none of its ${files} files matches`;
  return new FilingsError('not_found', `${reason} --include and --exclude (matching is case-sensitive)`, {
    subject: { name: accession },
    hint: `to see its files: filings list ${accession}`,
  });
}
