// Lays out the parts of the help that commander does not have, such as examples. Also replaces two of commander's own
// layouts: on a narrow terminal, commander would squeeze the descriptions of options into a narrow column, and it never
// wraps the usage.
import type { Help } from 'commander';
import { EXIT_STATUSES } from '../errors.ts';
import type { CommandSpec } from '../spec/command.ts';

/**
 * A row is a term, such as `--jobs <N>`, and its description. If fewer columns than this are left next to the term, the
 * description goes below it.
 */
const MIN_DESCRIPTION_COLUMNS = 30;
const INDENT_BELOW_TERM = 6;

/**
 * Formats the row of an option, an argument, a command or an exit status. Replaces the method `formatItem` of
 * commander's Help. `termWidth` is the width of the longest term. `help` wraps text and knows the terminal's width.
 */
export function formatItem(term: string, termWidth: number, description: string, help: Help): string {
  if (description === '') return `  ${term}`;
  // Commander has set the width already. Here and below, its default of 80 is repeated only for the type.
  const { helpWidth = 80 } = help;
  // Two blanks before the term and two after it.
  const columnsWithTerm = termWidth + 4;
  const isBelow = helpWidth - columnsWithTerm < MIN_DESCRIPTION_COLUMNS;
  const indent = isBelow ? INDENT_BELOW_TERM : columnsWithTerm;
  // `boxWrap` breaks lines at blanks. A NUL in place of the blank keeps `(env: NAME)` on one line.
  const joined = description.replace(/\(env: /g, '(env:\0');
  const lines = wrapWithIndent(joined, indent, help).replaceAll('\0', ' ');
  return isBelow ? `  ${term}\n${' '.repeat(indent)}${lines}` : `  ${term.padEnd(termWidth)}  ${lines}`;
}

/**
 * Wraps the usage, which has a line for each form of a command. Replaces the method `styleUsage` of commander's Help,
 * which is meant for adding colors: commander has no other hook for the usage. It calls the function as a method, so
 * `this` is its Help object, although commander's types do not say so.
 */
export function wrapUsage(this: unknown, text: string): string {
  return wrapWithIndent(text, 'Usage: '.length, this as Help);
}

/**
 * Wraps a text to the columns after an indent, and indents all lines except the first, which the caller has indented.
 */
function wrapWithIndent(text: string, indent: number, help: Help): string {
  return help.boxWrap(text, (help.helpWidth ?? 80) - indent).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/**
 * Formats what follows commander's own help: exit statuses, examples, and where to find more help. Begins with an empty
 * line.
 */
export function formatHelpEnd(
  { examples = [], sendsRequests, children }: CommandSpec,
  showsExitStatuses: boolean,
  help: Help,
): string {
  const { helpWidth = 80 } = help;
  // The sandbox is a built-in sample service. Only commands that send requests can use it.
  const heading = sendsRequests ? 'Examples (set FILINGS_SANDBOX=1 to try them without an account):' : 'Examples:';
  const indent = ' '.repeat(INDENT_BELOW_TERM);
  const exampleRows = examples.map(
    ([line, effect]) =>
      `  ${foldCommand(line, helpWidth)}\n${indent}${wrapWithIndent(effect, INDENT_BELOW_TERM, help)}`,
  );
  // The longest status decides the width of the column.
  const exitRows = EXIT_STATUSES.map(([status, meaning]) => formatItem(status, '128+n'.length, meaning, help));
  const more = children ? 'For help with a command, add --help to it.' : 'Global options: filings --help';
  return [
    '',
    ...(showsExitStatuses ? ['Exit status:', ...exitRows, ''] : []),
    ...(examples.length > 0 ? [help.boxWrap(heading, helpWidth), ...exampleRows, ''] : []),
    help.boxWrap(`${more}\nFull manual: man filings`, helpWidth),
    '',
  ].join('\n');
}

/**
 * Breaks a long command with backslashes, so that it still works when it is pasted. The command is split at all spaces.
 * If a space is inside quotes, the indent of the next line would become part of the quoted string. So an example must
 * have no space inside quotes, except within `$(...)`.
 */
function foldCommand(line: string, columns: number): string {
  const [first = '', ...words] = line.split(' ');
  // The first line is indented by two blanks, and the others by four.
  let [folded, column] = [first, 2 + first.length];
  for (const word of words) {
    // One blank before the word, and ` \` after it.
    const fits = column + 1 + word.length + 2 <= columns;
    folded += fits ? ` ${word}` : ` \\\n    ${word}`;
    column = (fits ? column + 1 : 4) + word.length;
  }
  return folded;
}
