import type { SettingSpec } from '../settings/table.ts';
import type { ArgumentSpec, CommandSpec } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import type { NamedOption, OptionSpec } from '../spec/option.ts';
import { orList } from '../spec/values.ts';

/** One line about the program. */
export const PURPOSE =
  'Lists and downloads the files of company filings, and mints and checks the JWTs their service takes.';

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

/** The program as a command, whose own options are but two: what it shares with all others is told apart. */
export function programSpec(commands: readonly CommandSpec[]): CommandSpec {
  return {
    name: 'filings',
    summary: 'list and download the files of company filings',
    children: commands,
    asksService: true,
    examples: [
      ['filings list 0001234567-24-000001', 'the file names of a filing'],
      ['filings download 0001234567-24-000001 primary.htm', 'one of its files, into the working directory'],
      ["filings download 0001234567-24-000001 --include 'ex*' -d exhibits", 'its exhibits'],
      ['filings list 0001234567-24-000001 --json', 'for programs: JSON Lines, on stdout alone'],
    ],
    files: [
      ['~/.config/filings/config.json', 'the config file: filings-config(5)'],
      [
        '~/.cache/filings',
        'compiled code, and names that completions offered (below $XDG_CACHE_HOME if that is set): it may be removed at any time',
      ],
    ],
  };
}

/** A command with its place in the tree: `['token', 'sign']`. */
export interface Placed {
  readonly path: readonly string[];
  readonly spec: CommandSpec;
}

/** Every command, groups before their children. */
export function placed(commands: readonly CommandSpec[], path: readonly string[] = []): readonly Placed[] {
  return commands.flatMap((spec) => {
    const own = [...path, spec.name];
    return [{ path: own, spec }, ...placed(spec.children ?? [], own)];
  });
}

/** `-o, --output PATH`; without a short flag, aligned with those that have one. */
export function optionTerm({ short, flag, value }: NamedOption): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${flag}${value === undefined ? '' : ` ${value}`}`;
}

/** What an option does, with its choices where the text does not name them, and in brackets what it is otherwise. */
export function optionText(spec: OptionSpec): string {
  return withNotes(sayingOf(spec), [defaultNote(spec)]);
}

/** As `optionText`, with the variable of the setting. */
export function settingText(spec: SettingSpec): string {
  return withNotes(sayingOf(spec), [spec.env, defaultNote(spec)]);
}

/** What an option does, with its choices where the text does not name them. */
export function sayingOf({ help, kind: { choices }, repeatable }: OptionSpec): string {
  const unnamed = choices !== undefined && !choices.every((choice) => help.includes(choice));
  return `${help}${unnamed ? ` (${orList(choices)})` : ''}${repeatable ? ' (repeatable)' : ''}`;
}

function defaultNote({ value, default: text, otherwise = text }: OptionSpec): string | undefined {
  return value === undefined || otherwise === undefined ? undefined : `default ${otherwise}`;
}

function withNotes(text: string, notes: readonly (string | undefined)[]): string {
  const shown = notes.filter((note) => note !== undefined).join(', ');
  return shown === '' ? text : `${text} [${shown}]`;
}

/** `[ACCESSION...]`. */
export function argumentTerm({ name, variadic, required }: ArgumentSpec): string {
  const words = `${name}${variadic ? '...' : ''}`;
  return required ? words : `[${words}]`;
}

/** `filings token sign [OPTION...]`, one for each of its forms. */
export function usagesOf({ path, spec }: Placed): readonly string[] {
  const { forms = [spec.children === undefined ? argumentsOf(spec) : subcommandOf(spec)] } = spec;
  return forms.map((form) => ['filings', ...path, '[OPTION...]', form].join(' ').trimEnd());
}

function argumentsOf(spec: CommandSpec): string {
  return (spec.arguments ?? []).map(argumentTerm).join(' ');
}

function subcommandOf({ defaultChild }: CommandSpec): string {
  return defaultChild === undefined ? 'COMMAND ...' : '[COMMAND ...]';
}

/** A summary as a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
