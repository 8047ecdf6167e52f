// Parses the command line with commander.
import { Argument, Command, type CommanderError, Help, Option } from 'commander';
import { EXIT_STATUSES } from '../errors.ts';
import { expandHome } from '../paths.ts';
import { FLAG_SETTINGS } from '../settings/table.ts';
import { type Action, type CommandSpec, describeCommand, type Flags } from '../spec/command.ts';
import {
  describeOption,
  HELP_OPTION,
  type NamedOption,
  type Options,
  parseOrThrow,
  toNamedOptions,
} from '../spec/option.ts';
import { HELP_COMMAND, PROGRAM } from './catalogue.ts';
import { helpHint, usageError } from './usage-error.ts';

interface CommandLine {
  /** Known even if the rest of the line is invalid, because they decide how the error is shown. */
  readonly flags: Flags;
  /** For usage errors that have no hint of their own. */
  readonly hint: string;
  /**
   * Throws `usage`. The error quotes the wrong value of a flag only if the flag has a fixed list of choices, because
   * any other value may be a key in the wrong place.
   */
  readonly readAction: () => Action;
}

interface Parsing {
  readonly argv: readonly string[];
  readonly columns: number | undefined;
  // The callbacks of one command set these when commander stops, at an error or at the end of the line.
  spec?: CommandSpec;
  /** It has the options parsed so far. */
  command?: Command;
  /** Commander also stops with an error after the help and the version. */
  error?: CommanderError;
}

/** After `help`, these are still errors. */
const NAMES_NO_COMMAND = /unknown|excess|optionMissing/;

export function readCommandLine(
  argv: readonly string[],
  { columns, home }: { readonly columns?: number; readonly home?: string | undefined } = {},
): CommandLine {
  const asTyped = parseWords(argv, columns);
  const { args } = asTyped.program;
  const isHelpLine = args[0] === 'help';
  // Commander would ignore what follows the command in `help list --bogus`, so the line is parsed without its `help`.
  const { program, parsing } = isHelpLine ? parseWords(argv.toSpliced(-args.length, 1), columns) : asTyped;
  const { spec = PROGRAM, command = program, error } = parsing;
  // In `optsWithGlobals` a flag before the command overrides the same flag after it. Here the command's own flags win,
  // because they come last.
  const flags = readFlags({ ...command.optsWithGlobals(), ...command.opts() });
  const readAction = (): Action => {
    const code = error?.code ?? '';
    if (code === 'commander.version') return { kind: 'version' };
    if (code === 'commander.helpDisplayed' || (isHelpLine && !NAMES_NO_COMMAND.test(code))) {
      // For `help token`, commander has chosen the default child of `token`.
      const shown = argv.includes(spec.name) ? command : (command.parent ?? command);
      return { kind: 'help', text: shown.helpInformation() };
    }
    const { load } = spec;
    if (error || !load) throw usageError(error as CommanderError, command, argv);
    requireChoices(flags);
    const invocation = { args: command.args, options: readOptions(spec.options, command, home), flags };
    return { kind: 'run', spec: { ...spec, load }, invocation };
  };
  return { flags, hint: helpHint(command), readAction };
}

/** The `args` of the returned program are the words from the first one on that is no flag. */
function parseWords(argv: readonly string[], columns: number | undefined) {
  const parsing: Parsing = { argv, columns };
  // The version is empty, because `main` prints it.
  const program = buildCommand(PROGRAM, [], parsing)
    .version('', '-V, --version', 'print the version')
    .helpCommand('help [COMMAND]', HELP_COMMAND.summary);
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (error !== parsing.error) throw error;
  }
  return { program, parsing };
}

/** `parents` are the names from `filings` on, and empty for the program itself. */
function buildCommand(spec: CommandSpec, parents: readonly string[], parsing: Parsing): Command {
  const { name, summary, usages, load } = spec;
  const { argv, columns } = parsing;
  const path = [...parents, name];
  const isNamed = [parents.at(-1), name].some((word) => word !== undefined && argv.includes(word));
  const command = new Command(name)
    .summary(summary)
    .description(describeCommand(spec).join('\n\n'))
    // A flag after a command belongs to that command, which knows all flags itself, and not to the program.
    .enablePositionalOptions()
    // `usageError` makes the suggestions.
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .configureHelp({
      ...(columns && { helpWidth: columns }),
      subcommandTerm: (child) => child.name(),
      // `describeOption` has already added the choices and the default, which commander would add again.
      optionDescription: (option) => option.description,
      minWidthToWrap: 20,
      formatHelp: (shown, help) => Help.prototype.formatHelp.call(help, shown, help) + formatHelpEnd(spec, help),
    })
    // `main` prints the help and the errors.
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
    // Called instead of `process.exit`. Must throw even after the help, or commander ends the process after all.
    .exitOverride((error) => {
      Object.assign(parsing, { spec, command, error });
      throw error;
    });
  if (usages) command.usage(usages.map((usage) => `[options] ${usage}`).join(`\n${path.join(' ')} `));
  if (load) command.action(() => void Object.assign(parsing, { spec, command }));
  // Creating options takes most of the start-up time, so only commands that the line names get theirs. The children
  // of these commands get theirs as well, because one may be the default, which runs without being named.
  const isProgram = parents.length === 0;
  if (isProgram || isNamed) {
    addParts(command, spec, isProgram);
    for (const child of spec.children ?? []) {
      const isDefault = child.name === spec.defaultChild;
      command.addCommand(buildCommand(child, path, parsing), { isDefault });
    }
  }
  return command;
}

function addParts(command: Command, spec: CommandSpec, isProgram: boolean): void {
  const ownOptions = toNamedOptions(spec.options);
  for (const option of [...ownOptions, ...FLAG_SETTINGS]) {
    if (option.heading) command.optionsGroup(`${option.heading}:`);
    // The flags are listed by `filings --help` only.
    command.addOption(buildOption(option).hideHelp(!isProgram && !ownOptions.includes(option)));
  }
  const isGrouped = isProgram || ownOptions.some(({ heading }) => heading);
  command.optionsGroup(isGrouped ? 'Help:' : 'Options:').helpOption(`-${HELP_OPTION.short}, --help`, HELP_OPTION.help);
  for (const { name, variadic, required, choices, help } of spec.arguments ?? []) {
    const words = variadic ? `${name}...` : name;
    const argument = new Argument(required ? `<${words}>` : `[${words}]`, help);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
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

/**
 * Flags stay strings, because they must first be merged with the other sources of settings. But some commands never
 * parse the settings, so a wrong choice such as `--color x` is reported here. A wrong `--key-in` may be no error:
 * `--sandbox` ignores settings that describe the service.
 */
function requireChoices(flags: Flags): void {
  for (const { name, flag, kind, ignoredBySandbox } of FLAG_SETTINGS)
    if (kind.choices && !ignoredBySandbox && flags[name] !== undefined) parseOrThrow(kind, `${flags[name]}`, flag);
}

function readOptions(ownOptions: Options | undefined, command: Command, home: string | undefined) {
  const given: Readonly<Record<string, unknown>> = command.opts();
  const readOption = ({ kind, name, flag, value, repeatable, default: defaultText }: NamedOption) => {
    const read = (text: string) => parseOrThrow(kind, kind.isPath ? expandHome(text, home) : text, flag);
    // Only a switch has no placeholder for a value.
    if (value === undefined) return given[name] === true;
    if (repeatable) return ((given[name] ?? []) as readonly string[]).map(read);
    const text = given[name] ?? defaultText;
    return text === undefined ? undefined : read(`${text}`);
  };
  return Object.fromEntries(toNamedOptions(ownOptions).map((spec) => [spec.name, readOption(spec)]));
}

/** Of the values of all options, takes those of flags. */
function readFlags(values: Readonly<Record<string, unknown>>): Flags {
  const given = FLAG_SETTINGS.filter(({ name }) => values[name] !== undefined);
  return Object.fromEntries(given.map(({ name }) => [name, values[name] as string | boolean]));
}

// What follows commander's own help: exit statuses, examples, and where to find more help.

/** Only `filings --help` lists the exit statuses. Examples are not wrapped, so that they can be pasted. */
function formatHelpEnd(spec: CommandSpec, help: Help): string {
  const { examples = [], sendsRequests, children } = spec;
  const heading = sendsRequests ? 'Examples (set FILINGS_SANDBOX=1 to try them without an account):' : 'Examples:';
  const exitRows = EXIT_STATUSES.map(([status, meaning]) => help.formatItem(status, '128+n'.length, meaning, help));
  return [
    '',
    ...(spec === PROGRAM ? ['Exit status:', ...exitRows, ''] : []),
    ...(examples.length > 0 ? [heading, ...examples.map(([line, effect]) => `  ${line}\n      ${effect}`), ''] : []),
    children ? 'For help with a command, add --help to it.' : 'Global options: filings --help',
    'Full manual: man filings',
    '',
  ].join('\n');
}
