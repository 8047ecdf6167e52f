// Makes the help of a command with commander's Help class. Takes the command and its spec, and gives the text.
import { type Command, type Help, Option } from 'commander';
import { layoutOf, paragraph, section, stacked } from '../help/layout.ts';
import { type CommandNode, PURPOSE, sentence, usagesOf } from '../help/program.ts';
import { EVERY_EXIT, exitRows, fullText, HELP_OPTION, optionTerm, optionText, VERSION_OPTION } from '../help/rows.ts';
import { SHARED_OPTIONS } from '../settings/table.ts';
import type { CommandSpec } from '../spec/command.ts';
import { type NamedOption, named } from '../spec/option.ts';

/** Returns the text that `-h` (brief, one screen) or `--help` prints about a command. */
export function commandHelp(command: Command, node: CommandNode, brief: boolean, columns: number): string {
  const { path, spec } = node;
  const isProgram = path.length === 0;
  const describe = brief ? optionText : fullText;
  const summary = isProgram ? PURPOSE : sentence(spec.summary);
  const help = Object.assign(layoutOf(columns), {
    commandUsage: () => usagesOf(node).join('\n       '),
    commandDescription: () => [summary, ...(brief ? [] : (spec.description ?? []))].join('\n\n'),
    // The usage with its forms already names the arguments.
    visibleArguments: ({ registeredArguments }: Command) => (brief && spec.forms ? [] : registeredArguments),
    visibleOptions: () =>
      optionsInHelp(node, brief).map((option) =>
        Object.assign(new Option(`--${option.flag}`, describe(option)), { flags: optionTerm(option) }),
      ),
    subcommandTerm: (child: Command) => child.name(),
    subcommandDescription: (child: Command) =>
      `${child.summary()}${child.name() === spec.defaultChild ? ' (when none is named)' : ''}`,
  });
  return stacked([
    help.formatHelp(command, help),
    brief ? '' : section('Exit status', isProgram ? EVERY_EXIT : exitRows(spec), columns),
    examplesSection(spec, help),
    paragraph(moreHelpText(node, brief), columns),
  ]);
}

function optionsInHelp({ path, spec }: CommandNode, brief: boolean): readonly NamedOption[] {
  if (path.length === 0) return [...(brief ? [] : SHARED_OPTIONS), HELP_OPTION, VERSION_OPTION];
  return named(spec.options).filter(({ isHiddenInShortHelp }) => !(brief && isHiddenInShortHelp));
}

function examplesSection({ examples = [], asksService }: CommandSpec, help: Help): string {
  if (examples.length === 0) return '';
  const heading = asksService ? 'Examples (with FILINGS_SANDBOX=1 they need no account):' : 'Examples:';
  const indented = (text: string) => help.boxWrap(text, (help.helpWidth ?? 80) - 6).replace(/^/gm, '      ');
  return [heading, ...examples.flatMap(([line, explanation]) => [`  ${line}`, indented(explanation)]), ''].join('\n');
}

function moreHelpText({ path }: CommandNode, brief: boolean): string {
  if (path.length === 0) {
    return `More: ${brief ? 'filings --help, ' : ''}filings COMMAND -h, filings help options | exit-codes | environment | config`;
  }
  const more = brief ? `More: ${['filings', ...path].join(' ')} --help\n` : '';
  return `${more}Options of every command, such as --profile: filings help options`;
}
