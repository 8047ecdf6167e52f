import { SHARED_OPTIONS } from '../settings/table.ts';
import type { CommandSpec } from '../spec/command.ts';
import { type NamedOption, named } from '../spec/option.ts';
import { filled, paragraph, type Row, section, wrapped } from './columns.ts';
import { argumentTerm, HELP_OPTION, optionTerm, optionText, type Placed, settingText, usagesOf } from './describe.ts';

// What short and long help are put together from. Each ends with a line break, or is empty.

export function usage(command: Placed, columns: number): string {
  const before = 'Usage: ';
  const lines = usagesOf(command).flatMap((line) => {
    const [first = '', ...rest] = filled(line.split(' '), columns - before.length - 2);
    return [first, ...rest.map((more) => `  ${more}`)];
  });
  return `${before}${lines.join(`\n${' '.repeat(before.length)}`)}\n`;
}

export function commandsSection({ children = [], defaultChild }: CommandSpec, columns: number): string {
  const rows = children.map(
    ({ name, summary }): Row => [name, `${summary}${name === defaultChild ? ' (when none is named)' : ''}`],
  );
  return section('Commands', rows, columns);
}

export function argumentsSection(spec: CommandSpec, columns: number): string {
  const rows = (spec.arguments ?? []).map((argument): Row => [argumentTerm(argument), argument.help]);
  return section('Arguments', rows, columns);
}

export function optionRow(option: NamedOption): Row {
  return [optionTerm(option), optionText(option)];
}

/** As `optionRow`, with all that is to be said about it. */
export function fullOptionRow(option: NamedOption): Row {
  return [optionTerm(option), [optionText(option), option.more].filter(Boolean).join('\n')];
}

/** The options of every command, or those of the settings that are named. */
export function sharedRows(keys?: readonly string[]): readonly Row[] {
  const chosen = SHARED_OPTIONS.filter(({ key }) => keys === undefined || keys.includes(key));
  const rows = chosen.map((spec): Row => [optionTerm(spec), settingText(spec)]);
  return keys === undefined ? [...rows, optionRow(HELP_OPTION)] : rows;
}

export function optionsSection(spec: CommandSpec, columns: number): string {
  return section('Options', named(spec.options).map(fullOptionRow), columns);
}

/** The first few of the examples, or all of them. */
export function examplesSection({ examples = [], asksService }: CommandSpec, columns: number, most = Infinity): string {
  if (examples.length === 0) return '';
  const heading = asksService ? 'Examples (with FILINGS_SANDBOX=1 they need no account):' : 'Examples:';
  const shown = examples.slice(0, most).map(([line, what]) => commandLines(line, columns) + meaning(what, columns));
  return `${paragraph(heading, columns)}${shown.join('')}`;
}

function meaning(what: string, columns: number): string {
  return wrapped(what, columns - 6)
    .map((line) => `      ${line}\n`)
    .join('');
}

/** A command line that still works when it is pasted: broken between words, outside of quotes. */
function commandLines(line: string, columns: number): string {
  const words = line.match(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|[^\s'"])+/g) ?? [];
  // Two columns before it, and room for the backslash.
  const lines = line.length + 2 <= columns ? [line] : filled(words, columns - 6);
  return `  ${lines.join(' \\\n    ')}\n`;
}

/** Parts with an empty line between them. */
export function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
