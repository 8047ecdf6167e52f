import { Argument, Command, Option } from 'commander';
import { FilingsError } from '../errors.ts';
import { type CommandPlace, programSpec } from '../help/program.ts';
import { SHARED_OPTIONS } from '../settings/table.ts';
import type { CommandSpec, Flags, Invocation, ParsedLine } from '../spec/command.ts';
import { choice } from '../spec/kind.ts';
import { type NamedOption, named, readAs } from '../spec/option.ts';
import { commandHelp } from './command-help.ts';
import { unknownCommand, usageError } from './usage-error.ts';

/** Filled as commander comes to it. */
interface Reading {
  readonly argv: readonly string[];
  line?: ParsedLine;
}

/** Throws `usage`, which never holds a setting's value. */
export function parseCommandLine(argv: readonly string[], commands: readonly CommandSpec[]): ParsedLine {
  const reading: Reading = { argv };
  const program = commandOf({ path: [], spec: programSpec(commands) }, reading).version('', '-V, --version');
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (reading.line === undefined) throw error;
  }
  if (reading.line === undefined) throw new FilingsError('internal', 'the command line was parsed to nothing');
  return reading.line;
}

function commandOf(place: CommandPlace, reading: Reading, siblings?: readonly CommandSpec[]): Command {
  const { path, spec } = place;
  const own = named(spec.options);
  const command = new Command(spec.name)
    .summary(spec.summary)
    .enablePositionalOptions()
    .helpCommand(false)
    // What it would print is made where the width is known.
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .showSuggestionAfterError(false)
    .exitOverride((error) => {
      if (error.code === 'commander.version') reading.line = { kind: 'version' };
      else if (/^commander\.help(Displayed)?$/.test(error.code)) reading.line = helpLine(error.code);
      else throw usageError(error, { path, spec, command, siblings, options: [...own, ...SHARED_OPTIONS] });
      throw error;
    });
  const helpLine = (code: string): ParsedLine => {
    const [word, ...words] = command.args.filter((one) => !one.startsWith('-'));
    if (word !== undefined && spec.children) {
      const inner = command.commands.find((child) => child.name() === word);
      // `-h` before a command is about that command.
      if (inner) inner.parse([...words, '--help'], { from: 'user' });
      else throw unknownCommand(path, word, spec.children);
    }
    return {
      kind: 'help',
      about: ['filings', ...path].join(' '),
      missing: code === 'commander.help',
      text: (columns) => commandHelp(command, place, !reading.argv.includes('--help'), columns),
    };
  };
  // Making options is most of the work of starting: a command that the line does not name needs none.
  if (path.length > 0 && siblings === undefined && !reading.argv.includes(spec.name)) return command;
  for (const option of own) command.addOption(ownOption(option));
  for (const option of SHARED_OPTIONS) command.addOption(sharedOption(option));
  for (const { name, variadic, required, choices, help } of spec.arguments ?? []) {
    const words = variadic ? `${name}...` : name;
    const argument = new Argument(required ? `<${words}>` : `[${words}]`, help);
    const isOneOf = (text: string) => readAs(choice(...(choices ?? [])), text, name);
    command.addArgument(choices === undefined ? argument : argument.choices([...choices]).argParser(isOneOf));
  }
  for (const child of spec.children ?? []) {
    const isDefault = child.name === spec.defaultChild;
    const below = { path: [...path, child.name], spec: child };
    const inner = commandOf(below, reading, isDefault ? spec.children : undefined);
    command.addCommand(inner, { isDefault });
  }
  const { name, load } = spec;
  if (load !== undefined) {
    command.action(() => {
      reading.line = { kind: 'run', name, load, invocation: invocationOf(own, command) };
    });
  }
  return command;
}

/** Its value is read as it is parsed. */
function ownOption(spec: NamedOption): Option {
  const { kind, excludes = [], repeatable, flag, value, default: text } = spec;
  const option = optionOf(spec).conflicts([...excludes]);
  if (value === undefined) return option.default(false);
  const standard = repeatable ? [] : text && kind.parse(text);
  return option.default(standard).argParser((given: string, before: unknown) => {
    const read = readAs(kind, given, `--${flag}`);
    return repeatable && Array.isArray(before) ? [...before, read] : read;
  });
}

/** A setting's flag: other sources may say the same, so its text stays as it is; of a choice it is one of the words. */
function sharedOption(spec: (typeof SHARED_OPTIONS)[number]): Option {
  const { kind, flag, value, service } = spec;
  // With `--sandbox` those of the service are not looked at.
  if (value === undefined || kind.choices === undefined || service) return optionOf(spec);
  return optionOf(spec).argParser((given: string) => String(readAs(kind, given, `--${flag}`)));
}

function optionOf({ flag, short, value, help }: NamedOption): Option {
  const flags = `${short === undefined ? '' : `-${short}, `}--${flag}`;
  return new Option(value === undefined ? flags : `${flags} <VALUE>`, help);
}

/** A shared option stands before the command or after it: after it wins. */
function invocationOf(own: readonly NamedOption[], command: Command): Invocation {
  const options: Readonly<Record<string, unknown>> = command.opts();
  const given = { ...command.optsWithGlobals(), ...options };
  const flags = SHARED_OPTIONS.flatMap(({ name }) => (given[name] === undefined ? [] : [[name, given[name]]]));
  return {
    args: command.args,
    options: Object.fromEntries(own.map(({ name }) => [name, options[name]])),
    flags: Object.fromEntries(flags) as Flags,
  };
}
