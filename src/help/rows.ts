import { EXIT_CODE_ROWS } from '../errors.ts';
import { type SettingSpec, SHARED_OPTIONS } from '../settings/table.ts';
import type { CommandSpec } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import type { NamedOption, OptionSpec } from '../spec/option.ts';
import { orList } from '../text.ts';
import type { Row } from './layout.ts';

// The texts about options and exit statuses in help, the manual and the completions.

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

/** Returns the term of an option: `-o, --output PATH`. Without a short flag it is indented like the others. */
export function optionTerm({ short, flag, value }: NamedOption): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${flag}${value === undefined ? '' : ` ${value}`}`;
}

/** Returns the text of an option, with its choices unless the text names them. */
export function helpLine({ help, kind: { choices }, repeatable }: OptionSpec): string {
  const omitsChoices = choices !== undefined && !choices.every((choice) => help.includes(choice));
  return `${help}${omitsChoices ? ` (${orList(choices)})` : ''}${repeatable ? ' (repeatable)' : ''}`;
}

/** Returns the text of an option with its environment variable and its default in brackets. */
export function optionText(spec: OptionSpec & Pick<SettingSpec, 'env'>): string {
  const { value, default: text, defaultText = text, env } = spec;
  const notes = [
    ...(env === undefined ? [] : [`[env:${env}]`]),
    ...(value === undefined || defaultText === undefined ? [] : [`[default: ${defaultText}]`]),
  ];
  return [helpLine(spec), ...notes].join(' ');
}

/** Returns the text of an option with the sentences for `--help`. */
export function fullText(option: OptionSpec): string {
  return [optionText(option), option.longHelp].filter(Boolean).join('\n');
}

export function sharedRows(): readonly Row[] {
  return [...SHARED_OPTIONS, HELP_OPTION].map((spec) => [optionTerm(spec), optionText(spec)]);
}

export const EVERY_EXIT: readonly Row[] = EXIT_CODE_ROWS.map(([status, codes, text]) => [
  `${status.padEnd(7)}${codes}`.trimEnd(),
  text,
]);

/**
 * The exit statuses that every command can have: success, a defect, a wrong command line, a stdout that cannot be
 * written, and a signal.
 */
const COMMON_EXITS = ['0', '1', '2', '8', '128+n'];

/** Returns every exit status that a command can have, with its meaning. A group of commands has none. */
export function exitRows({ exits = [], children }: CommandSpec): readonly Row[] {
  if (children) return [];
  const possible = [...COMMON_EXITS, ...exits];
  return EXIT_CODE_ROWS.flatMap(([status, , text]): Row[] => (possible.includes(status) ? [[status, text]] : []));
}
