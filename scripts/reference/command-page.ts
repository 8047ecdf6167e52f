import type { Row } from '../../src/help/layout.ts';
import { argumentTerm, type CommandNode, commandNodes, sentence, usagesOf } from '../../src/help/program.ts';
import { exitRows, fullText, optionTerm } from '../../src/help/rows.ts';
import { environmentRows } from '../../src/help/topics.ts';
import { SETTINGS } from '../../src/settings/table.ts';
import { named } from '../../src/spec/option.ts';
import { bold, escaped, examples, lines, macroArgument, page, paragraphs, type Release, tagged } from './roff.ts';

/** The manual page of a command, such as `filings-token(1)`. It includes the subcommands. */
export function commandPage(command: CommandNode, release: Release): string {
  const { spec } = command;
  const leaves = leavesOf(command);
  const all = leaves.map((leaf) => leaf.spec);
  return page({ name: `filings-${spec.name}`, section: 1 }, release, [
    ['NAME', [`filings\\-${escaped(spec.name)} \\- ${escaped(spec.summary)}`]],
    ['SYNOPSIS', lines(leaves.flatMap(usagesOf).map(synopsis))],
    [
      'DESCRIPTION',
      [...paragraphs([sentence(spec.summary), ...(spec.description ?? [])]), ...subcommands(command, leaves)],
    ],
    ['OPTIONS', [...leaves.flatMap((leaf) => optionsOf(leaf, leaf !== command)), ...paragraphs([OTHER_OPTIONS])]],
    ['EXAMPLES', examples(unlike([spec, ...all].flatMap((one) => one.examples ?? [])))],
    ['EXIT STATUS', [...leaves.flatMap((leaf) => exitsOf(leaf, leaf !== command)), ...paragraphs([OTHER_EXITS])]],
    ['ENVIRONMENT', [...tagged(variables(command, leaves)), ...paragraphs([OTHER_VARIABLES])]],
    ['FILES', tagged([CONFIG_FILE])],
    ['SEE ALSO', [seeAlso(['filings(1)', 'filings-config(5)'])]],
  ]);
}

const OTHER_OPTIONS = 'The options of every command are in filings(1).';
const OTHER_EXITS = 'The codes of errors are in filings(1).';
const OTHER_VARIABLES = 'Those of the other options are in filings(1).';
export const CONFIG_FILE: Row = ['~/.config/filings/config.json', 'the config file: filings-config(5)'];

/** References to pages such as `filings(1), filings-list(1)`, each once. */
export function seeAlso(pages: readonly string[]): string {
  return [...new Set(pages)]
    .map((name) => name.replace(/^(.+)(\(\d\))$/, (_, title, section) => `${bold(title)}${section}`))
    .join(',\n');
}

/** The commands that run: the command itself, or those below it. */
function leavesOf(command: CommandNode): readonly CommandNode[] {
  const below = commandNodes(command.spec.children ?? [], command.path);
  return below.length === 0 ? [command] : below.filter(({ spec }) => spec.children === undefined);
}

function synopsis(usage: string): string {
  const words = usage.split(' ');
  const first = words.findIndex((word) => /^[^a-z]/.test(word));
  return `${bold(words.slice(0, first).join(' '))} ${escaped(words.slice(first).join(' '))}`;
}

function heading({ path }: CommandNode): string {
  return `.SS ${macroArgument(['filings', ...path].join(' '))}`;
}

/** The subcommands with their descriptions. */
function subcommands(command: CommandNode, leaves: readonly CommandNode[]): readonly string[] {
  if (leaves[0] === command) return [];
  return leaves.flatMap((leaf) => {
    const { summary, description = [] } = leaf.spec;
    const [, ...rest] = paragraphs([sentence(summary), ...description]);
    return [heading(leaf), ...rest];
  });
}

function optionsOf(leaf: CommandNode, isBelow: boolean): readonly string[] {
  const rows = [
    ...(leaf.spec.arguments ?? []).map((argument): Row => [argumentTerm(argument), argument.help]),
    ...named(leaf.spec.options).map((option): Row => [optionTerm(option), fullText(option)]),
  ];
  return rows.length === 0 ? [] : [...(isBelow ? [heading(leaf)] : []), ...tagged(rows)];
}

function exitsOf(leaf: CommandNode, isBelow: boolean): readonly string[] {
  return [...(isBelow ? [heading(leaf)] : []), ...tagged(exitRows(leaf.spec))];
}

/** The variables that matter for every command, and those of the service for commands that use it. */
function variables({ spec }: CommandNode, leaves: readonly CommandNode[]): readonly Row[] {
  const asksService = [spec, ...leaves.map((leaf) => leaf.spec)].some((one) => one.asksService);
  return environmentRows(SETTINGS.filter(({ key, service }) => (asksService && service) || ALWAYS.includes(key)));
}

const ALWAYS = ['config', 'profile', 'color', 'errorFormat'];

/** Removes repeated examples: a group shows the examples of its commands once. */
function unlike(list: readonly (readonly [line: string, what: string])[]) {
  return list.filter(([line], index) => list.findIndex(([other]) => other === line) === index);
}
