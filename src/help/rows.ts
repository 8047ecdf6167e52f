import { EXIT_CODE_ROWS } from '../errors.ts';
import { type SettingSpec, SHARED_OPTIONS } from '../settings/table.ts';
import type { CommandSpec } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import type { NamedOption, OptionSpec } from '../spec/option.ts';
import { orList } from '../text.ts';
import type { Row } from './layout.ts';

// What help, the manual and the completions say of options and exit statuses.

export const HELP_OPTION: NamedOption = {
  name: 'help',
  flag: 'help',
  kind: SWITCH,
  short: 'h',
  help: 'show help: -h on one screen, --help all of it',
};
export const VERSION_OPTION: NamedOption = {
  name: 'version',
  flag: 'version',
  kind: SWITCH,
  short: 'V',
  help: 'print the version',
};

/** `-o, --output PATH`; without a short flag, aligned with those that have one. */
export function optionTerm({ short, flag, value }: NamedOption): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${flag}${value === undefined ? '' : ` ${value}`}`;
}

export function helpLine({ help, kind: { choices }, repeatable }: OptionSpec): string {
  const unnamed = choices !== undefined && !choices.every((choice) => help.includes(choice));
  return `${help}${unnamed ? ` (${orList(choices)})` : ''}${repeatable ? ' (repeatable)' : ''}`;
}

/** With its default, and the variable of a setting, in brackets. */
export function optionText(spec: OptionSpec & Pick<SettingSpec, 'env'>): string {
  const { value, default: text, otherwise = text, env } = spec;
  const notes = [
    ...(env === undefined ? [] : [`[env:${env}]`]),
    ...(value === undefined || otherwise === undefined ? [] : [`[default: ${otherwise}]`]),
  ];
  return [helpLine(spec), ...notes].join(' ');
}

export function fullText(option: OptionSpec): string {
  return [optionText(option), option.more].filter(Boolean).join('\n');
}

export function sharedRows(): readonly Row[] {
  return [...SHARED_OPTIONS, HELP_OPTION].map((spec) => [optionTerm(spec), optionText(spec)]);
}

export const EVERY_EXIT: readonly Row[] = EXIT_CODE_ROWS.map(([status, codes, text]) => [
  `${status.padEnd(7)}${codes}`.trimEnd(),
  text,
]);

/** The exit statuses of every command: a defect, a wrong command line, a stdout that cannot be written, a signal. */
const COMMON_EXITS = ['0', '1', '2', '8', '128+n'];

/** Returns every exit status that a command can have, with its meaning. A group has none of its own. */
export function exitRows({ exits = [], children }: CommandSpec): readonly Row[] {
  if (children) return [];
  const possible = [...COMMON_EXITS, ...exits];
  return EXIT_CODE_ROWS.flatMap(([status, , text]): Row[] => (possible.includes(status) ? [[status, text]] : []));
}
