import { HELP_OPTION, helpLine, VERSION_OPTION } from '../../help/rows.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../settings/table.ts';
import type { ArgumentSpec, CommandSpec } from '../../spec/command.ts';
import type { Kind } from '../../spec/kind.ts';
import { flagOf, type NamedOption, named } from '../../spec/option.ts';

// Decides which words TAB suggests, as a pure function of the words before the cursor and the specs of the commands.
// Names that only the shell, the config file or the service knows are not in the result: its `lookUp` says where to
// find them.

export interface Candidate {
  readonly text: string;
  /** One line that describes the word; may be empty. */
  readonly help: string;
}

export interface Completions {
  /** The start of the current word that stays before every candidate: `--color=`, `-j`, or nothing. */
  readonly prefix: string;
  readonly candidates: readonly Candidate[];
  /** Additional words to look up: paths, the files of the filing `args[0]`, or the profiles of the config file. */
  readonly lookUp?: 'file' | 'directory' | 'name' | 'profile' | undefined;
  /** The arguments of the command before the cursor. */
  readonly args: readonly string[];
  /** The options before the cursor by their names, such as `baseUrl`; true for a switch. */
  readonly optionValues: Readonly<Record<string, string | true>>;
}

/** The words before the current one. Words that do not fit are ignored, because the line is still being typed. */
interface Line {
  readonly spec: CommandSpec;
  readonly args: readonly string[];
  readonly optionValues: Readonly<Record<string, string | true>>;
  /** The last word is this option, and the current word is its value. */
  readonly pending: NamedOption | undefined;
  /** `--` has ended the options. */
  readonly isEnded: boolean;
}

type Suggestions = Pick<Completions, 'candidates' | 'lookUp'>;

const NO_SUGGESTIONS: Suggestions = { candidates: [] };

/** Returns the completions of the last of `words`, which are the words after the program's name. */
export function completionsFor(words: readonly string[], commands: readonly CommandSpec[]): Completions {
  const line = readLine(words.slice(0, -1), commands);
  const { args, optionValues } = line;
  const current = words.at(-1) ?? '';
  if (line.pending) return { ...valuesOf(line.pending.kind, line, commands), prefix: '', args, optionValues };
  const isOption = !line.isEnded && current.startsWith('-');
  if (!isOption) return { ...argumentsAt(line, commands), prefix: '', args, optionValues };
  const { options, prefix, value } = readOption(current, optionsOf(line.spec));
  if (value === undefined) return { ...optionsAt(line), prefix: '', args, optionValues };
  const [option] = options.filter(takesValue);
  return { ...(option ? valuesOf(option.kind, line, commands) : NO_SUGGESTIONS), prefix, args, optionValues };
}

function readLine(words: readonly string[], commands: readonly CommandSpec[]): Line {
  let spec: CommandSpec = { name: 'filings', summary: '', children: commands, options: { version: VERSION_OPTION } };
  let pending: NamedOption | undefined;
  let isEnded = false;
  const args: string[] = [];
  const optionValues: Record<string, string | true> = {};
  for (const word of words) {
    const isOption = !isEnded && /^-./.test(word);
    const child = isEnded ? undefined : spec.children?.find(({ name }) => name === word);
    if (pending) {
      optionValues[pending.name] = word;
      pending = undefined;
    } else if (word === '--' && !isEnded) {
      isEnded = true;
    } else if (isOption) {
      const { options, value } = readOption(word, optionsOf(spec));
      for (const option of options) {
        if (!takesValue(option)) optionValues[option.name] = true;
        else if (value === undefined) pending = option;
        else optionValues[option.name] = value;
      }
    } else if (child) {
      spec = child;
    } else {
      args.push(word);
    }
  }
  return { spec, args, optionValues, pending, isEnded };
}

/** A word of options. `-qj3` names `quiet` and `jobs`; its prefix is `-qj` and its value `3`. */
interface OptionWord {
  readonly options: readonly NamedOption[];
  readonly prefix: string;
  /** The value in the same word; undefined if there is none. */
  readonly value: string | undefined;
}

function readOption(word: string, known: readonly NamedOption[]): OptionWord {
  const find = (flag: string) => known.filter((option) => flagsOf(option).includes(flag));
  if (word.startsWith('--')) {
    const [, flag = word, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    return { options: find(flag), prefix: `${flag}=`, value };
  }
  // In a group of short options the first that takes a value is followed by it.
  const options: NamedOption[] = [];
  for (let end = 2; end <= word.length; end += 1) {
    options.push(...find(`-${word.charAt(end - 1)}`));
    if (takesValue(options.at(-1))) return { options, prefix: word.slice(0, end), value: word.slice(end) || undefined };
  }
  return { options, prefix: word, value: undefined };
}

function takesValue(option: NamedOption | undefined): boolean {
  return option?.value !== undefined;
}

/** Returns the options of a command. A group also has the options of its default command. */
function optionsOf({ options, children, defaultChild }: CommandSpec): readonly NamedOption[] {
  const child = children?.find(({ name }) => name === defaultChild);
  return [...named(options), ...named(child?.options), ...SHARED_OPTIONS, HELP_OPTION];
}

function flagsOf({ short, flag }: NamedOption): readonly string[] {
  return short === undefined ? [`--${flag}`] : [`-${short}`, `--${flag}`];
}

/** Returns the options that the line does not have yet, and the repeatable ones. */
function optionsAt({ spec, optionValues }: Line): Suggestions {
  const options = optionsOf(spec).filter(({ name, repeatable }) => repeatable || optionValues[name] === undefined);
  return {
    candidates: options.flatMap((option) => flagsOf(option).map((text) => ({ text, help: helpLine(option) }))),
  };
}

function argumentsAt(line: Line, commands: readonly CommandSpec[]): Suggestions {
  const { spec, args } = line;
  if (spec.children) return args.length === 0 ? { candidates: commandsOf(spec.children) } : NO_SUGGESTIONS;
  const last = spec.arguments?.at(-1);
  const argument = spec.arguments?.[args.length] ?? (last?.variadic ? last : undefined);
  return argument ? valuesOf(argument, line, commands) : NO_SUGGESTIONS;
}

function commandsOf(specs: readonly CommandSpec[]): readonly Candidate[] {
  return specs.map(({ name, summary }) => ({ text: name, help: summary }));
}

type ValueSpec = Pick<ArgumentSpec & Kind<unknown>, 'choices' | 'suggests' | 'completes' | 'json'>;

function valuesOf(
  { choices, suggests, completes, json }: ValueSpec,
  line: Line,
  commands: readonly CommandSpec[],
): Suggestions {
  const switchValues = json === 'boolean' ? ['true', 'false'] : [];
  const words = (choices ?? suggests ?? switchValues).map((text) => ({ text, help: '' }));
  switch (completes) {
    case 'setting':
      return valuesOfSetting(line, commands);
    case 'topic':
      return { candidates: topicsAt(line.args, commands, words) };
    default:
      return { candidates: words, lookUp: completes };
  }
}

/** Returns the values of the setting that the previous argument names. */
function valuesOfSetting(line: Line, commands: readonly CommandSpec[]): Suggestions {
  const name = line.args.at(-1) ?? '';
  const setting = SETTINGS.find(({ key, inFile }) => inFile && [key, flagOf(key)].includes(name));
  return setting ? valuesOf(setting.kind, line, commands) : NO_SUGGESTIONS;
}

/** Returns the subcommands of the command in the arguments; without arguments, all commands and topics. */
function topicsAt(args: readonly string[], commands: readonly CommandSpec[], topics: readonly Candidate[]) {
  let specs = commands;
  for (const arg of args) specs = specs.find(({ name }) => name === arg)?.children ?? [];
  const names = specs.map(({ name }) => name);
  const others = args.length === 0 ? topics.filter(({ text }) => !names.includes(text)) : [];
  return [...commandsOf(specs), ...others];
}
