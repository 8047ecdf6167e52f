// The parts of a help text that commander does not lay out itself, or not on a narrow terminal.
import type { Help } from 'commander';
import type { CommandSpec } from '../spec/command.ts';
import { EXIT_ROWS } from './catalogue.ts';

/** The columns that a description needs next to its term. On a narrower terminal it stands below the term. */
const MIN_DESCRIPTION = 30;

/** Formats an option, an argument or a command. */
export function formatItem(term: string, termWidth: number, description: string, help: Help): string {
  if (description === '') return `  ${term}`;
  const { helpWidth = 80 } = help;
  const indent = helpWidth - termWidth < MIN_DESCRIPTION + 4 ? 6 : termWidth + 4;
  // No line ends inside `(env: NAME)`.
  const joined = description.replace(/\(env: /g, '(env:\0');
  const lines = indented(joined, indent, help).replaceAll('\0', ' ');
  return indent === 6 ? `  ${term}\n      ${lines}` : `  ${term.padEnd(termWidth)}  ${lines}`;
}

/** Wraps the forms of a command. Commander calls it as a method of its help. */
export function indentedUsage(this: unknown, text: string): string {
  return indented(text, 'Usage: '.length, this as Help);
}

/** Wraps a text whose lines, except the first, are indented. */
function indented(text: string, indent: number, help: Help): string {
  return help.boxWrap(text, (help.helpWidth ?? 80) - indent).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** Returns the end of a help text: the exit statuses of the program, examples, and where more help is. */
export function helpAfter(
  { examples = [], asksService, children }: CommandSpec,
  hasExits: boolean,
  help: Help,
): string {
  const { helpWidth = 80 } = help;
  const heading = asksService ? 'Examples (with FILINGS_SANDBOX=1 they need no account):' : 'Examples:';
  const shown = examples.map(
    ([line, effect]) => `  ${foldCommand(line, helpWidth)}\n      ${indented(effect, 6, help)}`,
  );
  const more = children ? 'For the help of a command add --help to it.' : 'Options of every command: filings --help';
  return [
    '',
    ...(hasExits ? ['Exit status:', ...EXIT_ROWS.map(([status, text]) => formatItem(status, 5, text, help)), ''] : []),
    ...(examples.length > 0 ? [help.boxWrap(heading, helpWidth), ...shown, ''] : []),
    help.boxWrap(`${more}\nFull manual: man filings`, helpWidth),
    '',
  ].join('\n');
}

/** Breaks a command between words, so that it still works when it is pasted. */
function foldCommand(line: string, columns: number): string {
  const [first = '', ...words] = line.split(' ');
  let [folded, used] = [first, 2 + first.length];
  for (const word of words) {
    // One blank before the word, and room for the backslash behind it.
    const fits = used + 1 + word.length + 2 <= columns;
    folded += fits ? ` ${word}` : ` \\\n    ${word}`;
    used = (fits ? used + 1 : 4) + word.length;
  }
  return folded;
}
