// Parses the command line with commander. The result has the flags even if the rest is invalid, because they decide how
// the error is shown.
import { Argument, Command, type CommanderError, Help, Option } from 'commander';
import type { FilingsError } from '../errors.ts';
import { expandHome } from '../paths.ts';
import { SHARED_OPTIONS } from '../settings/table.ts';
import { type Action, type CommandSpec, describeCommand, type Flags, type Invocation } from '../spec/command.ts';
import { describeOption, HELP_OPTION, type NamedOption, parseOrThrow, toNamedOptions } from '../spec/option.ts';
import { PROGRAM } from './catalogue.ts';
import { formatHelpEnd } from './help.ts';
import { unknownCommand, unknownOption, usageError } from './usage-error.ts';

interface ParseOptions {
  readonly columns?: number;
  /** For paths that begin with `~/`. */
  readonly home?: string | undefined;
}

/** Commander's callbacks fill it in. */
interface ParseState extends ParseOptions {
  readonly argv: readonly string[];
  /** Chosen by commander, or where it found an error. It has the options parsed so far. */
  command?: Command;
  path: string;
  helpText: string;
  action?: Action;
}

interface CommandLine {
  /** After an error, the flags that could be parsed. */
  readonly flags: Flags;
  readonly action: Action | undefined;
  /** The command as far as it is known: `filings token sign`, for example. */
  readonly path: string;
  /** Of use only without an `action`: commander also throws after it has shown the help. */
  readonly error: unknown;
}

/**
 * Never throws: an error is part of the result. It quotes the wrong value of a flag only if the flag has a fixed list
 * of choices, because any other value may be a key in the wrong place.
 */
export function readCommandLine(args: readonly string[], options: ParseOptions = {}): CommandLine {
  // `filings help list` shows what `filings list --help` does.
  const isHelpCommand = args[0] === 'help';
  const argv = isHelpCommand ? [...args.slice(1), '--help'] : args;
  const state: ParseState = { ...options, argv, path: 'filings', helpText: '' };
  const program = buildCommand(PROGRAM, [], state);
  let error: unknown;
  try {
    // The version is empty, because `main` prints it. The help command is only for the list of commands in the help:
    // commander never sees the word `help`, which was replaced above.
    program.version('', '-V, --version', 'print the version').helpCommand('help [COMMAND]', 'show help for a command');
    program.parse([...argv], { from: 'user' });
  } catch (thrown) {
    error = thrown;
  }
  const flags = state.command ? readFlags(state.command, state.home) : {};
  const helpError = isHelpCommand ? findHelpError(args.slice(1), program) : undefined;
  const { action, path } = state;
  return helpError ? { flags, path, action: undefined, error: helpError } : { flags, path, action, error };
}

/** Commander would show the help of the last known command. */
function findHelpError(words: readonly string[], program: Command): unknown {
  let [command, path, rest] = [program, 'filings', words];
  try {
    for (;;) {
      // Skips flags and their values. After the name of a child, all further words are in `unknown`. If a command has a
      // default child, a word that is none of its children is in `unknown`, too, and an unknown option always is.
      const { operands, unknown } = command.parseOptions([...rest]);
      const word = operands[0] ?? unknown[0];
      if (word === undefined || /^(?:-h|--help)$/.test(word)) return undefined;
      if (word.startsWith('-')) return unknownOption(word, command, path, words);
      const child = command.commands.find((one) => one.name() === word);
      if (child === undefined) return unknownCommand(word, command, path);
      [command, path, rest] = [child, `${path} ${word}`, unknown];
    }
  } catch (error) {
    // Either `--version` is among the words, or the last flag has no value, as in `help list --jobs`.
    return (error as CommanderError).code === 'commander.version' ? undefined : error;
  }
}

/**
 * When commander parses the line, the callbacks of the command fill in `state`. `parents` are the names from `filings`
 * on, and empty for the program itself.
 */
function buildCommand(spec: CommandSpec, parents: readonly string[], state: ParseState): Command {
  const { name, summary, usages, children = [], load } = spec;
  const path = [...parents, name].join(' ');
  const isProgram = parents.length === 0;
  const wantsHelp = state.argv.some((word) => word === '--help' || word === '-h');
  const command = new Command(name)
    .summary(summary)
    .description(describeCommand(spec).join('\n\n'))
    // A flag after a command belongs to that command, which knows all flags itself, and not to the program.
    .enablePositionalOptions()
    // `usageError` makes the suggestions.
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .configureHelp({
      ...(state.columns && { helpWidth: state.columns }),
      subcommandTerm: (child) => child.name(),
      // `describeOption` has already added the choices and the default, which commander would add again.
      optionDescription: (option) => option.description,
      minWidthToWrap: 20,
      // Only `filings --help` lists the exit statuses.
      formatHelp: (shown, help) =>
        Help.prototype.formatHelp.call(help, shown, help) + formatHelpEnd(spec, isProgram && wantsHelp, help),
      // `filings` alone prints an overview without options.
      ...(isProgram && !wantsHelp && { visibleOptions: () => [] }),
    })
    // `main` prints the help, and the error that `exitOverride` throws.
    .configureOutput({ writeOut: collectHelp, writeErr: collectHelp, outputError: () => {} })
    // Called instead of `process.exit`. Must throw even after the help, or commander ends the process after all.
    .exitOverride((error) => {
      [state.command, state.path] = [command, path];
      if (error.code === 'commander.version') state.action = { kind: 'version' };
      else if (error.code.startsWith('commander.help')) {
        // Commander also shows the help, with the exit code 1, if the line should name a subcommand and does not.
        state.action = { kind: 'help', command: path, isCommandMissing: error.exitCode > 0, text: state.helpText };
      } else throw toUsageError(error);
      throw error;
    });
  function collectHelp(text: string) {
    state.helpText += text;
  }
  function toUsageError(error: CommanderError): FilingsError {
    // For `filings token sgn`, commander runs `sign`, which is the default command of `token`, with `sgn` as an
    // argument too many. Because the line does not have the word `sign`, this is reported as an unknown command.
    const parent = state.argv.includes(name) ? undefined : command.parent;
    if (error.code !== 'commander.excessArguments' || !parent) return usageError(error, command, path, state.argv);
    return unknownCommand(command.args[0] ?? '', parent, parents.join(' '));
  }
  if (usages) command.usage(usages.map((usage) => `[options] ${usage}`).join(`\n${path} `));
  // Creating options takes most of the start-up time, so only commands that the line names get theirs. The children
  // of these commands get theirs as well, because one may be the default, which runs without being named.
  if (!isProgram && !state.argv.includes(name) && !state.argv.includes(parents.at(-1) ?? '')) return command;
  const ownOptions = toNamedOptions(spec.options);
  for (const option of [...ownOptions, ...SHARED_OPTIONS]) {
    if (option.heading) command.optionsGroup(`${option.heading}:`);
    // The flags are listed by `filings --help` only.
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
      [state.command, state.path] = [command, path];
      state.action = { kind: 'run', name, load, invocation: readInvocation(ownOptions, command, state) };
    });
  }
  return command;
}

/**
 * The value stays a string until the whole line has been read, because a later flag may decide how an error about it is
 * shown.
 */
function buildOption(spec: NamedOption): Option {
  const { flag, short, value, excludes = [], repeatable } = spec;
  const usage = `${short === undefined ? '' : `-${short}, `}${flag}${value === undefined ? '' : ` <${value}>`}`;
  const option = new Option(usage, describeOption(spec)).conflicts([...excludes]);
  if (!repeatable) return option;
  return option.argParser((text, previous: readonly string[] | undefined) => [...(previous ?? []), text]);
}

/** Flags stay strings, because they must first be merged with the other sources of settings. */
function readInvocation(ownOptions: readonly NamedOption[], command: Command, { home }: ParseState): Invocation {
  const flags = readFlags(command, home);
  for (const { name, flag, kind, ignoredBySandbox } of SHARED_OPTIONS) {
    // Only to throw the error: some commands never parse the settings, so a wrong choice such as `--color x` is
    // reported here. But a wrong `--key-in` may be no error: `--sandbox` ignores settings that describe the service.
    if (kind.choices && !ignoredBySandbox && flags[name] !== undefined) parseOrThrow(kind, `${flags[name]}`, flag);
  }
  const options: Readonly<Record<string, unknown>> = command.opts();
  const readOption = (spec: NamedOption) => {
    const { kind, name, flag, value, repeatable, default: defaultText } = spec;
    const read = (text: string) => parseOrThrow(kind, expandIfPath(spec, text, home), flag);
    const given = options[name];
    // Only a switch has no placeholder for a value.
    if (value === undefined) return given === true;
    if (repeatable) return ((given ?? []) as readonly string[]).map(read);
    const text = given ?? defaultText;
    return text === undefined ? undefined : read(`${text}`);
  };
  return {
    args: command.args,
    options: Object.fromEntries(ownOptions.map((spec) => [spec.name, readOption(spec)])),
    flags,
  };
}

function expandIfPath({ kind: { completes } }: NamedOption, text: string, home: string | undefined): string {
  return completes === 'file' || completes === 'directory' ? expandHome(text, home) : text;
}

/**
 * In `optsWithGlobals` a flag before the command overrides the same flag after it. Here the command's own flags win,
 * because they come last.
 */
function readFlags(command: Command, home: string | undefined): Flags {
  const values = { ...command.optsWithGlobals(), ...command.opts() };
  const flags = SHARED_OPTIONS.map((spec) => {
    const value = values[spec.name];
    return [spec.name, typeof value === 'string' ? expandIfPath(spec, value, home) : value];
  });
  return Object.fromEntries(flags.filter(([, value]) => value !== undefined));
}
