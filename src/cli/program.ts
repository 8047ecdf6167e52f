import { Argument, Command, type CommanderError, Option } from 'commander';
import { FilingsError } from '../errors.ts';
import { type CommandPlace, programSpec } from '../help/program.ts';
import { SHARED_OPTIONS } from '../settings/table.ts';
import type { CommandSpec } from '../spec/command.ts';
import type { Flags, Invocation, ParsedLine } from '../spec/invocation.ts';
import { choice } from '../spec/kind.ts';
import { type NamedOption, named, readAs } from '../spec/option.ts';
import { commandHelp } from './command-help.ts';
import { looksLikeOption, type Position, unknownCommand, usageError } from './usage-error.ts';

/** Thrown through commander, which has no other way to stop. */
class Stop extends Error {
  readonly line: ParsedLine;
  constructor(line: ParsedLine) {
    super('stop');
    this.line = line;
  }
}

/**
 * Parses a command line.
 * @throws FilingsError `usage`, which never holds a setting's value
 */
export function parseCommandLine(argv: readonly string[], commands: readonly CommandSpec[]): ParsedLine {
  const program = commandOf({ path: [], spec: programSpec(commands) }, argv).version('', '-V, --version');
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof Stop) return error.line;
    throw error;
  }
  throw new FilingsError('internal', 'the command line was parsed to nothing');
}

function commandOf(place: CommandPlace, argv: readonly string[], siblings?: readonly CommandSpec[]): Command {
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
      throw stopOf(error, argv, { place, command, siblings, options: [...own, ...SHARED_OPTIONS] });
    });
  // Making options is most of the work of starting: a command that the line does not name needs none.
  if (path.length > 0 && siblings === undefined && !argv.includes(spec.name)) return command;
  for (const option of own) command.addOption(ownOption(option, argv));
  for (const option of SHARED_OPTIONS) command.addOption(sharedOption(option, argv));
  for (const { name, variadic, required, help } of spec.arguments ?? []) {
    const words = variadic ? `${name}...` : name;
    command.addArgument(new Argument(required ? `<${words}>` : `[${words}]`, help));
  }
  for (const child of spec.children ?? []) {
    const isDefault = child.name === spec.defaultChild;
    const inner = commandOf({ path: [...path, child.name], spec: child }, argv, isDefault ? spec.children : undefined);
    command.addCommand(inner, { isDefault, hidden: child.name.startsWith('__') });
  }
  if (spec.load !== undefined) {
    command.action(() => {
      throw new Stop({ kind: 'run', command: spec, invocation: invocationOf(spec, own, command) });
    });
  }
  return command;
}

function stopOf(error: CommanderError, argv: readonly string[], position: Position): Error {
  const brief = !argv.includes('--help');
  switch (error.code) {
    case 'commander.version':
      return new Stop({ kind: 'version' });
    case 'commander.helpDisplayed':
    case 'commander.help':
      return helpOf(position, position.command.args, brief, error.exitCode !== 0);
    default:
      // `-hq`, grouped as `-qh` is, which commander knows.
      if (error.code === 'commander.unknownOption' && /'-h[a-zA-Z]/.test(error.message)) {
        return helpOf(position, position.command.args, brief, false);
      }
      return usageError(error, position);
  }
}

/** Help about what was named, before or after `--help`: about a command that is not there, none. */
function helpOf(
  { place, command }: Pick<Position, 'place' | 'command'>,
  args: readonly string[],
  brief: boolean,
  missing: boolean,
): Error {
  const { path, spec } = place;
  const word = args.find((one) => !one.startsWith('-'));
  if (word === undefined || spec.children === undefined) {
    const text = (columns: number) => commandHelp(command, place, brief, columns);
    return new Stop({ kind: 'help', about: ['filings', ...path].join(' '), missing, text });
  }
  const child = spec.children.find(({ name }) => name === word);
  const below = command.commands.find((one) => one.name() === word);
  if (child === undefined || below === undefined) return unknownCommand(path, [word], spec.children);
  const rest = args.slice(args.indexOf(word) + 1);
  return helpOf({ place: { path: [...path, word], spec: child }, command: below }, rest, brief, missing);
}

/** An option of the command itself: its value is read as it is parsed. */
function ownOption(spec: NamedOption, argv: readonly string[]): Option {
  const { kind, excludes = [], repeatable, flag } = spec;
  const option = optionOf(spec, argv, (text, before) => {
    const value = readAs(kind, text, `--${flag}`);
    return repeatable ? [...(Array.isArray(before) ? before : []), value] : value;
  });
  return option.conflicts([...excludes]);
}

/** A setting's flag: other sources may say the same, so its text stays as it is; of a choice it is one of the words. */
function sharedOption(spec: (typeof SHARED_OPTIONS)[number], argv: readonly string[]): Option {
  return optionOf(spec, argv, (text) => {
    // With `--sandbox` those of the service are not looked at.
    if (spec.kind.choices !== undefined && !spec.service) readAs(spec.kind, text, `--${spec.flag}`);
    return text;
  });
}

function optionOf(
  spec: NamedOption,
  argv: readonly string[],
  read: (text: string, before: unknown) => unknown,
): Option {
  const { flag, short, value, help } = spec;
  const flags = `${short === undefined ? '' : `-${short}, `}--${flag}`;
  if (value === undefined) return new Option(flags, help);
  return new Option(`${flags} <VALUE>`, help).argParser((text: string, before: unknown) => {
    if (looksLikeOption(text, spec, argv)) {
      throw new FilingsError('usage', `--${flag}: a value is missing`, {
        hint: `write --${flag}=${value} for a value that begins with a dash`,
      });
    }
    return read(text, before);
  });
}

/** A shared option stands before the command or after it: after it wins. */
function invocationOf(spec: CommandSpec, own: readonly NamedOption[], command: Command): Invocation {
  const given: Readonly<Record<string, unknown>> = { ...command.optsWithGlobals(), ...command.opts() };
  spec.arguments?.forEach(({ name, choices }, index) => {
    const value = command.args[index];
    if (choices !== undefined && value !== undefined) readAs(choice(...choices), value, name);
  });
  const flags = SHARED_OPTIONS.map(({ name }) => [name, given[name]] as const).filter(
    ([, value]) => value !== undefined,
  );
  return {
    args: command.args,
    options: Object.fromEntries(own.map((option) => [option.name, given[option.name] ?? otherwise(option)])),
    flags: Object.fromEntries(flags) as Flags,
  };
}

/** What an option is when nobody names it. */
function otherwise({ kind, value, repeatable, default: text }: NamedOption): unknown {
  if (repeatable) return [];
  if (value === undefined) return false;
  return text === undefined ? undefined : kind.parse(text);
}
