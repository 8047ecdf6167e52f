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
  /** The command whose options were read last. */
  command?: Command;
  line?: ParsedLine;
  /** The first value that cannot be read. The rest is read all the same, because it may say how errors look. */
  fault?: unknown;
}

/** What a command line comes to, with the settings among its options, as far as they could be read. */
export type CommandLine = { readonly flags: Flags } & (
  | { readonly line: ParsedLine; readonly error?: never }
  | { readonly line?: never; readonly error: unknown }
);

/** Throws `usage`, which never holds a setting's value. */
export function parseCommandLine(argv: readonly string[], commands: readonly CommandSpec[]): ParsedLine {
  const { line, error } = readCommandLine(argv, commands);
  if (line === undefined) throw error;
  return line;
}

/** As `parseCommandLine`, but returns the error. */
export function readCommandLine(argv: readonly string[], commands: readonly CommandSpec[]): CommandLine {
  const reading: Reading = { argv };
  let error: unknown;
  try {
    const program = commandOf({ path: [], spec: programSpec(commands) }, reading).option('-V, --version');
    program.on('option:version', () => {
      reading.line = { kind: 'version' };
    });
    program.parse([...argv], { from: 'user' });
  } catch (thrown) {
    error = thrown;
  }
  const { line, fault } = reading;
  const flags = reading.command ? flagsOf(reading.command) : {};
  if (line !== undefined && fault === undefined) return { flags, line };
  return { flags, error: fault ?? error ?? new FilingsError('internal', 'the command line was parsed to nothing') };
}

/** Returns what `read` returns, or undefined if it throws. */
function readValue<T>(reading: Reading, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // What follows --version is not looked at.
    if (reading.line === undefined) reading.fault ??= error;
    return undefined;
  }
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
      reading.command = command;
      if (/^commander\.help(Displayed)?$/.test(error.code)) reading.line ??= helpLine(error.code);
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
  for (const option of own) command.addOption(ownOption(option, reading));
  for (const option of SHARED_OPTIONS) command.addOption(sharedOption(option, reading));
  for (const { name, variadic, required, choices, help } of spec.arguments ?? []) {
    const words = variadic ? `${name}...` : name;
    const argument = new Argument(required ? `<${words}>` : `[${words}]`, help);
    const isOneOf = (text: string) => readValue(reading, () => readAs(choice(...(choices ?? [])), text, name));
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
      reading.command = command;
      reading.line ??= { kind: 'run', name, load, invocation: invocationOf(own, command) };
    });
  }
  return command;
}

/** Its value is read as it is parsed. */
function ownOption(spec: NamedOption, reading: Reading): Option {
  const { kind, excludes = [], repeatable, flag, value, default: text } = spec;
  const option = optionOf(spec).conflicts([...excludes]);
  if (value === undefined) return option.default(false);
  const standard = repeatable ? [] : text && kind.parse(text);
  return option.default(standard).argParser((given: string, before: unknown) => {
    const read = readValue(reading, () => readAs(kind, given, `--${flag}`));
    return repeatable && Array.isArray(before) ? [...before, read] : read;
  });
}

/** A setting's flag: other sources may say the same, so its text stays as it is; of a choice it is one of the words. */
function sharedOption(spec: (typeof SHARED_OPTIONS)[number], reading: Reading): Option {
  const { kind, flag, value, service } = spec;
  // With `--sandbox` those of the service are not looked at.
  if (value === undefined || kind.choices === undefined || service) return optionOf(spec);
  return optionOf(spec).argParser((given: string) =>
    readValue(reading, () => String(readAs(kind, given, `--${flag}`))),
  );
}

function optionOf({ flag, short, value, help }: NamedOption): Option {
  const flags = `${short === undefined ? '' : `-${short}, `}--${flag}`;
  return new Option(value === undefined ? flags : `${flags} <VALUE>`, help);
}

function invocationOf(own: readonly NamedOption[], command: Command): Invocation {
  const options: Readonly<Record<string, unknown>> = command.opts();
  return {
    args: command.args,
    options: Object.fromEntries(own.map(({ name }) => [name, options[name]])),
    flags: flagsOf(command),
  };
}

/** A shared option stands before the command or after it: after it wins. */
function flagsOf(command: Command): Flags {
  const given = { ...command.optsWithGlobals(), ...command.opts() };
  const flags = SHARED_OPTIONS.flatMap(({ name }) => (given[name] === undefined ? [] : [[name, given[name]]]));
  return Object.fromEntries(flags) as Flags;
}
