// The end of a help text, behind what commander prints: the exit statuses, examples, and where more help is.
import type { Help } from 'commander';
import type { CommandSpec } from '../spec/command.ts';
import { EXIT_ROWS } from './catalogue.ts';

/** Returns the end of the help of a command, with the exit statuses of the program if it is to have them. */
export function helpAfter(
  { examples = [], asksService, children }: CommandSpec,
  hasExits: boolean,
  help: Help,
): string {
  const heading = asksService ? 'Examples (with FILINGS_SANDBOX=1 they need no account):' : 'Examples:';
  return [
    ...(hasExits
      ? ['', 'Exit status:', ...EXIT_ROWS.map(([status, text]) => help.formatItem(status, 5, text, help))]
      : []),
    ...(examples.length > 0 ? ['', heading, ...examples.map(([line, effect]) => `  ${line}\n      ${effect}`)] : []),
    '',
    children ? 'For the help of a command add --help to it.' : 'Options of every command: filings --help',
    'All rules: man filings',
  ].join('\n');
}
