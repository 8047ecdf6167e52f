// Parses the command line with commander. Takes the arguments, and gives what to do together with the flags, which
// decide how even an error of the command line is shown.
import { Argument, Command, type CommanderError, Help, Option } from 'commander';
import { FilingsError } from '../errors.ts';
import { expandHome } from '../paths.ts';
import { SHARED_OPTIONS } from '../settings/table.ts';
import { type CommandSpec, descriptionOf, type Flags, type Invocation, type ParsedLine } from '../spec/command.ts';
import { choice } from '../spec/kind.ts';
import { HELP_OPTION, type NamedOption, named, optionText, readAs } from '../spec/option.ts';
import { PROGRAM } from './catalogue.ts';
import { formatItem, helpAfter, indentedUsage } from './help.ts';
import { unknownCommand, usageError } from './usage-error.ts';

/** What parsing takes from outside besides the arguments. */
interface Surroundings {
  /** The width of the help. */
  readonly columns?: number;
  /** The home directory, which `~/` in a path means. */
  readonly home?: string | undefined;
}

/** The result of parsing so far. Commander's callbacks fill it in. */
interface ParseState extends Surroundings {
  readonly argv: readonly string[];
  /** The command whose options were read last. */
  command?: Command;
  /** The help that commander has printed. */
  text: string;
  line?: ParsedLine;
  /** The error of the first invalid value. Parsing continues, because a later flag may decide how errors look. */
  fault?: unknown;
}

/** A parsed command line, or its error. The flags are complete as far as they could be read. */
export type CommandLine = { readonly flags: Flags } & (
  | { readonly line: ParsedLine; readonly error?: never }
  | { readonly line?: never; readonly error: unknown }
);

/** Returns what a command line means, or its error `usage`, whose message never has the value of a setting. */
export function readCommandLine(args: readonly string[], surroundings: Surroundings = {}): CommandLine {
  const asksHelp = args[0] === 'help';
  const argv = asksHelp ? [...args.slice(1), '--help'] : args;
  const state: ParseState = { ...surroundings, argv, text: '' };
  let error: unknown;
  try {
    const program = buildCommand(PROGRAM, [], state);
    program
      .version('', '-V, --version', 'print the version')
      .helpCommand('help [COMMAND]', 'show the help of a command');
    if (asksHelp) requireCommand(args.slice(1), program);
    program.parse([...argv], { from: 'user' });
  } catch (thrown) {
    error = thrown;
  }
  const { command, line, fault } = state;
  const flags = command ? flagsOf(command) : {};
  if (line !== undefined && fault === undefined) return { flags, line };
  return { flags, error: fault ?? error ?? new FilingsError('internal', 'the command line was parsed to nothing') };
}

/** Throws `usage` if the words after `help` are not a command. Commander would show the help of the program. */
function requireCommand(words: readonly string[], program: Command): void {
  let [command, path] = [program, 'filings'];
  for (const word of words.filter((one) => !one.startsWith('-'))) {
    const child = command.commands.find((one) => one.name() === word);
    if (child === undefined) throw unknownCommand(word, command, path);
    [command, path] = [child, `${path} ${word}`];
  }
}

/** Returns what `read` returns, or undefined if it throws. */
function readValue<T>(state: ParseState, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    state.fault ??= error;
    return undefined;
  }
}

/** Returns commander's command for a spec, with its options, arguments and subcommands. */
function buildCommand(spec: CommandSpec, parents: readonly string[], state: ParseState): Command {
  const { name, summary, forms, children = [], load } = spec;
  const path = [...parents, name].join(' ');
  const isProgram = parents.length === 0;
  const asksHelp = state.argv.some((word) => word === '--help' || word === '-h');
  const command = new Command(name)
    .summary(summary)
    .description(descriptionOf(spec).join('\n\n'))
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .configureHelp({
      ...(state.columns && { helpWidth: state.columns }),
      subcommandTerm: (child) => child.name(),
      optionDescription: (option) => option.description,
      minWidthToWrap: 1,
      formatItem,
      styleUsage: indentedUsage,
      formatHelp: (shown, help) =>
        Help.prototype.formatHelp.call(help, shown, help) + helpAfter(spec, isProgram && asksHelp, help),
      // Without a command, an overview is enough.
      ...(isProgram && !asksHelp && { visibleOptions: () => [] }),
    })
    .configureOutput({ writeOut: keep, writeErr: keep, outputError: () => {} })
    .exitOverride((error) => {
      state.command = command;
      if (error.code === 'commander.version') state.line ??= { kind: 'version' };
      else if (error.code.startsWith('commander.help')) {
        state.line ??= { kind: 'help', about: path, missing: error.exitCode > 0, text: state.text };
      } else throw errorOf(error);
      throw error;
    });
  function keep(text: string) {
    state.text += text;
  }
  function errorOf(error: CommanderError): FilingsError {
    // The word was meant to be a command, and commander gave it to the default command.
    const parent = state.argv.includes(name) ? undefined : command.parent;
    if (error.code !== 'commander.excessArguments' || !parent) return usageError(error, command, path);
    return unknownCommand(command.args[0] ?? '', parent, parents.join(' '));
  }
  if (forms) command.usage(forms.map((form) => `[options] ${form}`).join(`\n${path} `));
  // Options take most of the start-up time, so a command that the line does not name gets none.
  if (!isProgram && !state.argv.includes(name) && !state.argv.includes(parents.at(-1) ?? '')) return command;
  const ownOptions = named(spec.options);
  const shared = SHARED_OPTIONS.map(
    (option) => [option, buildSharedOption(option, state).hideHelp(!isProgram)] as const,
  );
  for (const [{ heading }, option] of [
    ...ownOptions.map((one) => [one, buildOwnOption(one, state)] as const),
    ...shared,
  ]) {
    if (heading) command.optionsGroup(`${heading}:`);
    command.addOption(option);
  }
  const isGrouped = isProgram || ownOptions.some(({ heading }) => heading);
  command.optionsGroup(isGrouped ? 'Help:' : 'Options:').helpOption(`-${HELP_OPTION.short}, --help`, HELP_OPTION.help);
  for (const { name: argument, variadic, required, choices, help } of spec.arguments ?? []) {
    const words = variadic ? `${argument}...` : argument;
    const isOneOf = (text: string) => readValue(state, () => readAs(choice(...(choices ?? [])), text, argument));
    const built = new Argument(required ? `<${words}>` : `[${words}]`, help);
    command.addArgument(choices === undefined ? built : built.argParser(isOneOf));
  }
  for (const child of children) {
    const built = buildCommand(child, [...parents, name], state);
    command.addCommand(built, { isDefault: child.name === spec.defaultChild });
  }
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
    const parsed = readValue(state, () => readAs(kind, typedText(spec, text, state), `--${flag}`));
    return repeatable && Array.isArray(previous) ? [...previous, parsed] : parsed;
  });
}

/**
 * Returns the flag of a setting. Its text is parsed later, together with the other sources of the setting. Only a
 * choice is checked here.
 */
function buildSharedOption(spec: (typeof SHARED_OPTIONS)[number], state: ParseState): Option {
  const { kind, flag, value, service } = spec;
  const option = buildOption(spec);
  if (value === undefined) return option;
  // `--sandbox` ignores the settings of the service, even if they are invalid.
  const isChecked = kind.choices !== undefined && !service;
  return option.argParser((text: string) =>
    isChecked ? readValue(state, () => String(readAs(kind, text, `--${flag}`))) : typedText(spec, text, state),
  );
}

/** Returns the value of an option as it was typed, a path with the home directory for its `~`. */
function typedText({ kind: { completes } }: NamedOption, text: string, { home }: ParseState): string {
  return completes === 'file' || completes === 'directory' ? expandHome(text, home) : text;
}

function buildOption(spec: NamedOption): Option {
  const { flag, short, value } = spec;
  const flags = `${short === undefined ? '' : `-${short}, `}--${flag}${value === undefined ? '' : ` <${value}>`}`;
  return new Option(flags, optionText(spec));
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
