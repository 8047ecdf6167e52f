// Parses the command line with commander. Takes the arguments, and gives what to do together with the flags, which
// decide how even an error of the command line is shown.
import { Argument, Command, type CommanderError, Help, Option } from 'commander';
import type { FilingsError } from '../errors.ts';
import { expandHome } from '../paths.ts';
import { SHARED_OPTIONS } from '../settings/table.ts';
import { type CommandSpec, descriptionOf, type Flags, type Invocation, type ParsedLine } from '../spec/command.ts';
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
}

/** A parsed command line, or its error. The flags are complete as far as they could be read. */
interface CommandLine {
  readonly flags: Flags;
  readonly line: ParsedLine | undefined;
  readonly error: unknown;
}

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
  return { flags: state.command ? flagsOf(state.command, state.home) : {}, line: state.line, error };
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
  for (const option of [...ownOptions, ...SHARED_OPTIONS]) {
    if (option.heading) command.optionsGroup(`${option.heading}:`);
    command.addOption(buildOption(option).hideHelp(!isProgram && !ownOptions.includes(option)));
  }
  const isGrouped = isProgram || ownOptions.some(({ heading }) => heading);
  command.optionsGroup(isGrouped ? 'Help:' : 'Options:').helpOption(`-${HELP_OPTION.short}, --help`, HELP_OPTION.help);
  for (const { name: argument, variadic, required, choices, help } of spec.arguments ?? []) {
    const words = variadic ? `${argument}...` : argument;
    const built = new Argument(required ? `<${words}>` : `[${words}]`, help);
    command.addArgument(choices === undefined ? built : built.choices(choices));
  }
  for (const child of children) {
    const built = buildCommand(child, [...parents, name], state);
    command.addCommand(built, { isDefault: child.name === spec.defaultChild });
  }
  if (load !== undefined) {
    command.action(() => {
      state.command = command;
      state.line = { kind: 'run', name, load, invocation: invocationOf(ownOptions, command, state) };
    });
  }
  return command;
}

/**
 * Returns an option that keeps its text. The text is parsed when the whole line has been read, because an error of a
 * value is shown as a later flag says.
 */
function buildOption(spec: NamedOption): Option {
  const { flag, short, value, excludes = [], repeatable } = spec;
  const flags = `${short === undefined ? '' : `-${short}, `}--${flag}${value === undefined ? '' : ` <${value}>`}`;
  const option = new Option(flags, optionText(spec)).conflicts([...excludes]);
  if (!repeatable) return option;
  return option.argParser((text, previous: readonly string[] | undefined) => [...(previous ?? []), text]);
}

/** Returns the options of a command as values, and the flags of settings as text. Throws `usage`. */
function invocationOf(ownOptions: readonly NamedOption[], command: Command, { home }: ParseState): Invocation {
  const flags = flagsOf(command, home);
  for (const { name, flag, kind, service } of SHARED_OPTIONS) {
    // `--sandbox` ignores the settings of the service, even if they are invalid.
    if (kind.choices && !service && flags[name] !== undefined) readAs(kind, `${flags[name]}`, `--${flag}`);
  }
  const options: Readonly<Record<string, unknown>> = command.opts();
  const readOption = (spec: NamedOption) => {
    const { kind, name, flag, value, repeatable, default: standard } = spec;
    const read = (text: string) => readAs(kind, typedText(spec, text, home), `--${flag}`);
    const given = options[name];
    if (value === undefined) return given === true;
    if (repeatable) return ((given ?? []) as readonly string[]).map(read);
    const text = given ?? standard;
    return text === undefined ? undefined : read(`${text}`);
  };
  return {
    args: command.args,
    options: Object.fromEntries(ownOptions.map((spec) => [spec.name, readOption(spec)])),
    flags,
  };
}

/** Returns the value of an option as it was typed, a path with the home directory for its `~`. */
function typedText({ kind: { completes } }: NamedOption, text: string, home: string | undefined): string {
  return completes === 'file' || completes === 'directory' ? expandHome(text, home) : text;
}

/** Returns the shared options of a command line. A flag after the command overrides the same flag before it. */
function flagsOf(command: Command, home: string | undefined): Flags {
  const values = { ...command.optsWithGlobals(), ...command.opts() };
  const flags = SHARED_OPTIONS.map((spec) => {
    const value = values[spec.name];
    return [spec.name, typeof value === 'string' ? typedText(spec, value, home) : value];
  });
  return Object.fromEntries(flags.filter(([, value]) => value !== undefined));
}
