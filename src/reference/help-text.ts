import { SHARED_OPTIONS } from '../settings/table.ts';
import type { CommandSpec } from '../spec/command.ts';
import { named } from '../spec/option.ts';
import { type Row, section, wrapped } from './columns.ts';
import {
  argumentTerm,
  HELP_OPTION,
  optionTerm,
  optionText,
  type Placed,
  PURPOSE,
  placed,
  sentence,
  settingText,
  usageOf,
  VERSION_OPTION,
} from './describe.ts';

const USUAL_COLUMNS = 80;
const MOST_COLUMNS = 100;
const FEWEST_COLUMNS = 40;

/** How wide help is on a terminal of so many columns, or on none. */
export function helpColumns(columns: number | undefined): number {
  return Math.max(FEWEST_COLUMNS, Math.min(columns || USUAL_COLUMNS, MOST_COLUMNS));
}

/** What `--help` prints, for the program (an empty path) or one command. */
export function helpText(commands: readonly CommandSpec[], path: readonly string[], width: number): string {
  const command = placed(commands).find((one) => one.path.join(' ') === path.join(' '));
  return command === undefined ? programHelp(commands, width) : commandHelp(command, width);
}

function programHelp(commands: readonly CommandSpec[], width: number): string {
  return joined([
    'Usage: filings [OPTION...] COMMAND ...\n',
    `${wrapped(PURPOSE, width).join('\n')}\n`,
    section('Commands', commandRows(commands), width),
    section('Options, before or after the command', [...sharedRows(), optionRow(VERSION_OPTION)], width),
    "See 'filings help COMMAND', 'filings help exit-codes', 'filings help environment',\n'filings help config'.\n",
  ]);
}

function commandHelp(command: Placed, width: number): string {
  const { spec } = command;
  const ofArguments = (spec.arguments ?? []).map((argument): Row => [argumentTerm(argument), argument.help]);
  return joined([
    `Usage: ${usageOf(command)}\n`,
    ...[sentence(spec.summary), ...(spec.description ?? [])].map((text) => `${wrapped(text, width).join('\n')}\n`),
    section('Commands', commandRows(spec.children ?? [], spec.defaultChild), width),
    section('Arguments', ofArguments, width),
    section('Options', named(spec.options).map(optionRow), width),
    section('Options of every command', sharedRows(), width),
    examples(spec),
  ]);
}

function joined(parts: readonly string[]): string {
  return `${parts
    .filter((part) => part !== '')
    .map((part) => part.trimEnd())
    .join('\n\n')}\n`;
}

function commandRows(commands: readonly CommandSpec[], defaultChild?: string): readonly Row[] {
  return commands.map(({ name, summary }) => [
    name,
    `${summary}${name === defaultChild ? ' (when none is named)' : ''}`,
  ]);
}

function sharedRows(): readonly Row[] {
  const rows = SHARED_OPTIONS.map((spec): Row => [optionTerm(spec), settingText(spec)]);
  return [...rows, optionRow(HELP_OPTION)];
}

function optionRow(option: Parameters<typeof optionTerm>[0]): Row {
  return [optionTerm(option), optionText(option)];
}

function examples({ examples: list = [] }: CommandSpec): string {
  if (list.length === 0) return '';
  return `Examples:\n${list.map(([command, what]) => `  ${command}\n      ${what}\n`).join('')}`;
}
