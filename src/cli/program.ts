// Parses the command line with commander. Takes the arguments and the specs of the commands, and gives what to do
// together with the flags, which decide how even an error of the command line is shown.
import { Argument, Command, Option } from 'commander';
import { FilingsError } from '../errors.ts';
import { type CommandNode, programSpec } from '../help/program.ts';
import { SHARED_OPTIONS } from '../settings/table.ts';
import type { CommandSpec, Flags, Invocation, ParsedLine } from '../spec/command.ts';
import { choice } from '../spec/kind.ts';
import { type NamedOption, named, readAs } from '../spec/option.ts';
import { commandHelp } from './command-help.ts';
import { unknownCommandError, usageError } from './usage-error.ts';

/** The result of parsing so far. Commander's callbacks fill it in. */
interface ParseState {
  readonly argv: readonly string[];
  /** The command whose options were read last. */
  command?: Command;
  line?: ParsedLine;
  /** The error of the first invalid value. Parsing continues, because a later flag may decide how errors look. */
  fault?: unknown;
}

/** A parsed command line, or its error. The flags are complete as far as they could be read. */
export type CommandLine = { readonly flags: Flags } & (
  | { readonly line: ParsedLine; readonly error?: never }
  | { readonly line?: never; readonly error: unknown }
);

/** Returns what a command line means. Throws `usage`, whose message never has the value of a setting. */
export function parseCommandLine(argv: readonly string[], commands: readonly CommandSpec[]): ParsedLine {
  const { line, error } = readCommandLine(argv, commands);
  if (line === undefined) throw error;
  return line;
}

/** Parses as `parseCommandLine` does, but returns the error, with the flags that could be read. */
export function readCommandLine(argv: readonly string[], commands: readonly CommandSpec[]): CommandLine {
  const state: ParseState = { argv };
  let error: unknown;
  try {
    const program = buildCommand({ path: [], spec: programSpec(commands) }, state).option('-V, --version');
    program.on('option:version', () => {
      state.line = { kind: 'version' };
    });
    program.parse([...argv], { from: 'user' });
  } catch (thrown) {
    error = thrown;
  }
  const { line, fault } = state;
  const flags = state.command ? flagsOf(state.command) : {};
  if (line !== undefined && fault === undefined) return { flags, line };
  return { flags, error: fault ?? error ?? new FilingsError('internal', 'the command line was parsed to nothing') };
}

/** Returns what `read` returns, or undefined if it throws. */
function readValue<T>(state: ParseState, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // After --version, the rest of the line is ignored.
    if (state.line === undefined) state.fault ??= error;
    return undefined;
  }
}

/** Returns commander's command for a spec, with its options, arguments and subcommands. */
function buildCommand(node: CommandNode, state: ParseState, siblings?: readonly CommandSpec[]): Command {
  const { path, spec } = node;
  const ownOptions = named(spec.options);
  const command = new Command(spec.name)
    .summary(spec.summary)
    .enablePositionalOptions()
    .helpCommand(false)
    // Commander prints nothing: the text is made later, when the width is known.
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .showSuggestionAfterError(false)
    .exitOverride((error) => {
      state.command = command;
      if (/^commander\.help(Displayed)?$/.test(error.code)) state.line ??= helpLine(error.code);
      else throw usageError(error, { path, spec, command, siblings, options: [...ownOptions, ...SHARED_OPTIONS] });
      throw error;
    });
  const helpLine = (code: string): ParsedLine => {
    const [word, ...words] = command.args.filter((arg) => !arg.startsWith('-'));
    if (word !== undefined && spec.children) {
      const child = command.commands.find((one) => one.name() === word);
      // `-h` before the name of a command asks for the help of that command.
      if (child) child.parse([...words, '--help'], { from: 'user' });
      else throw unknownCommandError(path, word, spec.children);
    }
    return {
      kind: 'help',
      about: ['filings', ...path].join(' '),
      missing: code === 'commander.help',
      text: (columns) => commandHelp(command, node, !state.argv.includes('--help'), columns),
    };
  };
  // Options take most of the start-up time, so a command that the line does not name gets none.
  if (path.length > 0 && siblings === undefined && !state.argv.includes(spec.name)) return command;
  for (const option of ownOptions) command.addOption(buildOwnOption(option, state));
  for (const option of SHARED_OPTIONS) command.addOption(buildSharedOption(option, state));
  for (const { name, variadic, required, choices, help } of spec.arguments ?? []) {
    const words = variadic ? `${name}...` : name;
    const argument = new Argument(required ? `<${words}>` : `[${words}]`, help);
    const isOneOf = (text: string) => readValue(state, () => readAs(choice(...(choices ?? [])), text, name));
    command.addArgument(choices === undefined ? argument : argument.choices([...choices]).argParser(isOneOf));
  }
  for (const child of spec.children ?? []) {
    const isDefault = child.name === spec.defaultChild;
    const childNode = { path: [...path, child.name], spec: child };
    const childCommand = buildCommand(childNode, state, isDefault ? spec.children : undefined);
    command.addCommand(childCommand, { isDefault });
  }
  const { name, load } = spec;
  if (load !== undefined) {
    command.action(() => {
      state.command = command;
      state.line ??= { kind: 'run', name, load, invocation: invocationOf(ownOptions, command) };
    });
  }
  return command;
}

/** Returns an option of one command. Its value is parsed at once. */
function buildOwnOption(spec: NamedOption, state: ParseState): Option {
  const { kind, excludes = [], repeatable, flag, value, default: defaultText } = spec;
  const option = buildOption(spec).conflicts([...excludes]);
  if (value === undefined) return option.default(false);
  const defaultValue = repeatable ? [] : defaultText && kind.parse(defaultText);
  return option.default(defaultValue).argParser((text: string, previous: unknown) => {
    const parsed = readValue(state, () => readAs(kind, text, `--${flag}`));
    return repeatable && Array.isArray(previous) ? [...previous, parsed] : parsed;
  });
}

/**
 * Returns the flag of a setting. Its text is parsed later, together with the other sources of the setting. Only a
 * choice is checked here.
 */
function buildSharedOption(spec: (typeof SHARED_OPTIONS)[number], state: ParseState): Option {
  const { kind, flag, value, service } = spec;
  // `--sandbox` ignores the settings of the service, even if they are invalid.
  if (value === undefined || kind.choices === undefined || service) return buildOption(spec);
  return buildOption(spec).argParser((text: string) => readValue(state, () => String(readAs(kind, text, `--${flag}`))));
}

function buildOption({ flag, short, value, help }: NamedOption): Option {
  const flags = `${short === undefined ? '' : `-${short}, `}--${flag}`;
  return new Option(value === undefined ? flags : `${flags} <VALUE>`, help);
}

function invocationOf(ownOptions: readonly NamedOption[], command: Command): Invocation {
  const options: Readonly<Record<string, unknown>> = command.opts();
  return {
    args: command.args,
    options: Object.fromEntries(ownOptions.map(({ name }) => [name, options[name]])),
    flags: flagsOf(command),
  };
}

/** Returns the shared options of a command line. A flag after the command overrides the same flag before it. */
function flagsOf(command: Command): Flags {
  const values = { ...command.optsWithGlobals(), ...command.opts() };
  const flags = SHARED_OPTIONS.flatMap(({ name }) => (values[name] === undefined ? [] : [[name, values[name]]]));
  return Object.fromEntries(flags) as Flags;
}
