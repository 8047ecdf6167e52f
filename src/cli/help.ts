// Lays out what commander's own help does not have, such as examples, and what it would squeeze on a narrow terminal.
import type { Help } from 'commander';
import { EXIT_STATUSES } from '../errors.ts';
import type { CommandSpec } from '../spec/command.ts';

/** If fewer columns are left next to a term, its description goes below it. */
const MIN_DESCRIPTION_COLUMNS = 30;
const INDENT_BELOW_TERM = 6;

/** Formats the row of an option, an argument, a command or an exit status. Replaces the method of commander's Help. */
export function formatItem(term: string, termWidth: number, description: string, help: Help): string {
  if (description === '') return `  ${term}`;
  const { helpWidth = 80 } = help;
  // Two blanks before the term and two after it.
  const columnsWithTerm = termWidth + 4;
  const isBelow = helpWidth - columnsWithTerm < MIN_DESCRIPTION_COLUMNS;
  const indent = isBelow ? INDENT_BELOW_TERM : columnsWithTerm;
  // The NUL keeps boxWrap from breaking a line inside `(env: NAME)`.
  const joined = description.replace(/\(env: /g, '(env:\0');
  const lines = wrapWithIndent(joined, indent, help).replaceAll('\0', ' ');
  return isBelow ? `  ${term}\n${' '.repeat(indent)}${lines}` : `  ${term.padEnd(termWidth)}  ${lines}`;
}

/** Wraps the usage of a command that has several forms. Commander calls it with its Help as `this`. */
export function wrapUsage(this: unknown, text: string): string {
  return wrapWithIndent(text, 'Usage: '.length, this as Help);
}

/** Indents all lines except the first. */
function wrapWithIndent(text: string, indent: number, help: Help): string {
  return help.boxWrap(text, (help.helpWidth ?? 80) - indent).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** Formats what follows commander's own help: exit statuses, examples, and where to find more help. */
export function formatHelpEnd(
  { examples = [], sendsRequests, children }: CommandSpec,
  showsExitStatuses: boolean,
  help: Help,
): string {
  const { helpWidth = 80 } = help;
  const heading = sendsRequests ? 'Examples (set FILINGS_SANDBOX=1 to try them without an account):' : 'Examples:';
  const indent = ' '.repeat(INDENT_BELOW_TERM);
  const exampleRows = examples.map(
    ([line, effect]) =>
      `  ${foldCommand(line, helpWidth)}\n${indent}${wrapWithIndent(effect, INDENT_BELOW_TERM, help)}`,
  );
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

/** Breaks a long command with backslashes, so that it still works when it is pasted. An example must not have a space
 * inside single quotes, because the shell would keep a backslash there. */
function foldCommand(line: string, columns: number): string {
  const [first = '', ...words] = line.split(' ');
  let [folded, column] = [first, 2 + first.length];
  for (const word of words) {
    // One blank before the word, and ` \` after it.
    const fits = column + 1 + word.length + 2 <= columns;
    folded += fits ? ` ${word}` : ` \\\n    ${word}`;
    column = (fits ? column + 1 : 4) + word.length;
  }
  return folded;
}
