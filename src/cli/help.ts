// What follows commander's own help: exit statuses, examples, and where to find more help.
import type { Help } from 'commander';
import { EXIT_STATUSES } from '../errors.ts';
import type { CommandSpec } from '../spec/command.ts';
import { PROGRAM } from './catalogue.ts';

/** Only `filings --help` lists the exit statuses. Examples are not wrapped, so that they can be pasted. */
export function formatHelpEnd(spec: CommandSpec, help: Help): string {
  const { examples = [], sendsRequests, children } = spec;
  const heading = sendsRequests ? 'Examples (set FILINGS_SANDBOX=1 to try them without an account):' : 'Examples:';
  const exitRows = EXIT_STATUSES.map(([status, meaning]) => help.formatItem(status, '128+n'.length, meaning, help));
  return [
    '',
    ...(spec === PROGRAM ? ['Exit status:', ...exitRows, ''] : []),
    ...(examples.length > 0 ? [heading, ...examples.map(([line, effect]) => `  ${line}\n      ${effect}`), ''] : []),
    children ? 'For help with a command, add --help to it.' : 'Global options: filings --help',
    'Full manual: man filings',
    '',
  ].join('\n');
}
