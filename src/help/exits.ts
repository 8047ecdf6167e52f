import { EXIT_CODE_ROWS } from '../errors.ts';
import type { CommandSpec } from '../spec/command.ts';
import type { Row } from './columns.ts';

/** Every exit status, with its code. */
export const EVERY_EXIT: readonly Row[] = EXIT_CODE_ROWS.map(([status, codes, text]) => [
  codes === '' ? status : `${status} (${codes})`,
  text,
]);

/** Of a command that has nothing of its own to say. */
const USUAL: readonly Row[] = [
  ['0', 'done'],
  ['2', 'the command line or the configuration is wrong'],
];

/** The exit statuses that matter for a command, with what they mean there. A group has none of its own. */
export function exitRows({ exits, children }: CommandSpec): readonly Row[] {
  return exits ?? (children === undefined ? USUAL : []);
}
