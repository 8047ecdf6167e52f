// Globs for `--include` and `--exclude`. A glob is not translated into one regular expression, because names come from
// the service and could make such an expression run for minutes: with picomatch, four `*` and a name of 255 characters
// take 4 s.
import { FilingsError } from '../errors.ts';

/**
 * A name passes if it matches a glob of `include`, or `include` is empty, and if it matches no glob of `exclude`. `*`
 * matches slashes and a leading dot as well, because a name is not a path.
 */
export function compileNameFilter(include: readonly string[], exclude: readonly string[]): (name: string) => boolean {
  const included = include.map((glob) => compileGlob('--include', glob));
  const excluded = exclude.map((glob) => compileGlob('--exclude', glob));
  const isIncluded = (name: string) => included.length === 0 || included.some((matches) => matches(name));
  return (name) => isIncluded(name) && !excluded.some((matches) => matches(name));
}

/** The shell has probably expanded an unquoted `--include ex*` to `--include ex1 ex2`, where ex2 is an argument. */
export const QUOTE_PATTERN_HINT = "quote the pattern, or the shell expands it: --include 'ex*'";

/** Tests one character. `*` stands for any number of characters. */
type Matcher = '*' | ((character: string) => boolean);

/** Braces multiply: without a limit, twenty `{a,b}` in a row would make a million patterns. */
const MAX_PATTERNS = 1000;
/**
 * A symbol is an escaped character, a character class or any other single character. A `]` right after `[`, `[!` or
 * `[^` does not end the class. A `[` that begins no class is a symbol of one character.
 */
const SYMBOLS = /\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|./gsu;

function compileGlob(flag: string, glob: string): (name: string) => boolean {
  // `new RegExp` in `parseClass` throws a SyntaxError, so the functions below do, too.
  try {
    if (glob === '') throw new SyntaxError('it is empty');
    const patterns = expandBraces(glob.match(SYMBOLS) ?? []).map((symbols) => symbols.map(parseSymbol));
    // A name matches itself, even if it has brackets or braces that mean something in a glob.
    return (name) => name === glob || patterns.some((matchers) => matchesAll(matchers, [...name]));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new FilingsError('usage', error.message, {
      subject: { name: `${flag} '${glob}'` },
      hint: "write a pattern such as 'ex*.htm' or '*.{xml,xsd}'; a backslash makes the next character literal",
    });
  }
}

/** `ab` and `ac` for `a{b,c}`. Expands the last `{` first, because no other braces can be inside it. */
function expandBraces(symbols: readonly string[]): (readonly string[])[] {
  const start = symbols.lastIndexOf('{');
  if (start === -1) return [symbols];
  const end = symbols.indexOf('}', start);
  if (end === -1) throw new SyntaxError("a '{' is not closed");
  const inside = symbols.slice(start + 1, end);
  if (inside.join('').includes('..')) throw new SyntaxError(`the range {${inside.join('')}} is not supported`);
  const alternatives: string[][] = [[]];
  for (const symbol of inside) {
    if (symbol === ',') alternatives.push([]);
    else alternatives.at(-1)?.push(symbol);
  }
  const [before, after] = [symbols.slice(0, start), symbols.slice(end + 1)];
  const patterns = alternatives.flatMap((alternative) => expandBraces([...before, ...alternative, ...after]));
  if (patterns.length > MAX_PATTERNS) throw new SyntaxError(`the braces expand to more than ${MAX_PATTERNS} patterns`);
  return patterns;
}

function parseSymbol(symbol: string): Matcher {
  if (symbol === '*') return symbol;
  if (symbol === '?') return () => true;
  if (symbol === '\\') throw new SyntaxError("nothing follows the '\\' at the end");
  if (symbol.startsWith('[')) return parseClass(symbol);
  const literal = symbol.startsWith('\\') ? symbol.slice(1) : symbol;
  return (character) => character === literal;
}

/** As in POSIX, a leading `]` and a dash at either end are literal. */
function parseClass(symbol: string): Matcher {
  const [, negation = '', members = ''] = /^\[([!^]?)(.*)\]$/su.exec(symbol) ?? [];
  // Either `[` alone, or `[]`: there the `]` is a member, and nothing ends the class.
  if (members === '') throw new SyntaxError("a '[' is not closed");
  if (members.includes('[:')) throw new SyntaxError(`${symbol} is not supported: use a range, such as [0-9]`);
  // The class becomes one of a regular expression, where `[`, `]`, `^`, `-` and a backslash need a backslash to be
  // literal. A dash without a backslash stays as it is, because it makes a range in both. Any other character loses its
  // backslash: `\d` is the letter d in a glob, and not a digit.
  const escaped = members.replace(/\\(.)|[[\]^]/gsu, (match, character = match) =>
    /[\\[\]^-]/.test(character) ? `\\${character}` : character,
  );
  // `!` and `^` mean the same in a glob. Throws a SyntaxError for a range out of order, such as `[z-a]`.
  const member = new RegExp(`^[${negation && '^'}${escaped}]$`, 'su');
  return (character) => member.test(character);
}

/**
 * When a character does not match, only the last `*` is extended by one character. The earlier ones can stay as they
 * are, because the last one can take any characters that they would. So the number of steps is at most the length of
 * the name times the number of matchers.
 */
function matchesAll(matchers: readonly Matcher[], name: readonly string[]): boolean {
  let [nameIndex, matcherIndex] = [0, 0];
  /** The last `*` so far (none at -1), and where in the name the characters that it stands for end. */
  let star = { matcherIndex: -1, nameIndex: 0 };
  while (nameIndex < name.length) {
    const matcher = matchers[matcherIndex];
    if (matcher === '*') {
      star = { matcherIndex, nameIndex };
      matcherIndex += 1;
    } else if (matcher?.(name[nameIndex] ?? '')) {
      nameIndex += 1;
      matcherIndex += 1;
    } else if (star.matcherIndex >= 0) {
      star.nameIndex += 1;
      [nameIndex, matcherIndex] = [star.nameIndex, star.matcherIndex + 1];
    } else return false;
  }
  return matchers.slice(matcherIndex).every((rest) => rest === '*');
}
