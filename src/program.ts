import { Argument, Command, type CommanderError, Option } from 'commander';
import type { CommandSpec } from './commands/command-spec.ts';
import type { Invocation } from './commands/invocation.ts';
import { FilingsError } from './errors.ts';
import type { Request } from './request.ts';
import { type OptionSpec, SETTINGS } from './settings/options.ts';
import { readChoice } from './settings/values.ts';
import { helpHint, looksLikeOption, type Place, unknownCommand, usageError } from './usage-error.ts';

/** The options that every command has: the settings' flags. */
export const SHARED_OPTIONS: readonly OptionSpec[] = SETTINGS.flatMap((spec) => spec.option ?? []);

/** With `--sandbox` these are not looked at, so they are checked no sooner than when settings are resolved. */
const UNCHECKED: ReadonlySet<OptionSpec> = new Set(SETTINGS.flatMap((spec) => (spec.service && spec.option) || []));

/** Thrown through commander, which has no other way to stop. */
class Stop extends Error {
  readonly request: Request;
  constructor(request: Request) {
    super('stop');
    this.request = request;
  }
}

/**
 * Parses a command line.
 * @throws FilingsError `usage`, which never holds an option's value
 */
export function parseCommandLine(argv: readonly string[], commands: readonly CommandSpec[]): Request {
  requireText(argv);
  const program = commandOf({ name: 'filings', summary: '', children: commands }, [], argv);
  program.version('', '-V, --version');
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof Stop) return error.request;
    throw error;
  }
  return { kind: 'help', path: [], missing: true };
}

/** Node decodes what is no UTF-8 to U+FFFD: it would ask for another name. */
function requireText(argv: readonly string[]): void {
  const index = argv.findIndex((argument) => argument.includes('\ufffd'));
  if (index < 0) return;
  throw new FilingsError('usage', `argument ${index + 1}: it is not UTF-8, and would be taken for another`, {
    hint: 'write it in UTF-8: see what locale the terminal or the script uses',
  });
}

function commandOf(
  spec: CommandSpec,
  path: readonly string[],
  argv: readonly string[],
  siblings?: readonly CommandSpec[],
): Command {
  const command = new Command(spec.name)
    .enablePositionalOptions()
    .helpCommand(false)
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .showSuggestionAfterError(false)
    .exitOverride((error) => {
      throw stopOf(error, { spec, path, siblings, args: command.args, options: optionsOf(spec) });
    });
  // Making options is most of the work of starting: a command that the line does not name needs none.
  if (path.length > 0 && siblings === undefined && !argv.includes(spec.name)) return command;
  for (const option of optionsOf(spec)) command.addOption(optionOf(option, argv));
  for (const argument of spec.arguments ?? []) {
    const { name, variadic, required } = argument;
    const words = variadic ? `${name}...` : name;
    command.addArgument(new Argument(required ? `<${words}>` : `[${words}]`, argument.help));
  }
  for (const child of spec.children ?? []) {
    const isDefault = child.name === spec.defaultChild;
    const inner = commandOf(child, [...path, child.name], argv, isDefault ? spec.children : undefined);
    command.addCommand(inner, { isDefault });
  }
  if (spec.load !== undefined) {
    command.action(() => {
      throw new Stop({ kind: 'run', command: spec, invocation: invocationOf(spec, command) });
    });
  }
  return command;
}

function optionsOf(spec: CommandSpec): readonly OptionSpec[] {
  return [...(spec.options ?? []), ...SHARED_OPTIONS];
}

function stopOf(error: CommanderError, place: Place): Error {
  switch (error.code) {
    case 'commander.version':
      return new Stop({ kind: 'version' });
    case 'commander.helpDisplayed':
    case 'commander.help':
      return helpOf(place, error.exitCode !== 0);
    default:
      return usageError(error, place);
  }
}

/** Help about what was named, before or after `--help`: about a command that is not there, none. */
function helpOf({ spec, path, args, ...place }: Place, missing: boolean): Error {
  const [word] = args.filter((one) => !one.startsWith('-'));
  if (word === undefined || spec.children === undefined) return new Stop({ kind: 'help', path, missing });
  const child = spec.children.find(({ name }) => name === word);
  if (child === undefined) return unknownCommand({ path, args: [word] }, spec.children, helpHint(path));
  return helpOf({ ...place, spec: child, path: [...path, word], args: args.slice(args.indexOf(word) + 1) }, missing);
}

function optionOf(spec: OptionSpec, argv: readonly string[]): Option {
  const short = spec.short === undefined ? '' : `-${spec.short}, `;
  if (spec.value === undefined) return new Option(`${short}--${spec.flag}`, spec.help);
  const option = new Option(`${short}--${spec.flag} <VALUE>`, spec.help);
  return option.argParser((value: string, before: unknown) => {
    if (looksLikeOption(value, spec, argv)) {
      throw new FilingsError('usage', `--${spec.flag}: a value is missing`, {
        hint: `write --${spec.flag}=${spec.value} for a value that begins with a dash`,
      });
    }
    if (spec.choices !== undefined && !UNCHECKED.has(spec)) readChoice(spec.choices, value, `--${spec.flag}`);
    return spec.repeatable ? [...(Array.isArray(before) ? before : []), value] : value;
  });
}

/** A shared option stands before the command or after it: after it wins. */
function invocationOf(spec: CommandSpec, command: Command): Invocation {
  const all: Record<string, Invocation['options'][string]> = command.optsWithGlobals();
  Object.assign(all, command.opts());
  const shared = new Set(SETTINGS.map(({ key }) => key));
  spec.arguments?.forEach(({ name, choices }, index) => {
    const value = command.args[index];
    if (choices !== undefined && value !== undefined) readChoice(choices, value, name);
  });
  const entries = Object.entries(all).filter(([, value]) => value !== undefined);
  return {
    args: command.args,
    options: Object.fromEntries(entries.filter(([key]) => !shared.has(key))),
    flags: Object.fromEntries(entries.filter(([key]) => shared.has(key))) as Invocation['flags'],
  };
}
