import { HELP_OPTION, helpLine, VERSION_OPTION } from '../../help/rows.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../settings/table.ts';
import type { ArgumentSpec, CommandSpec } from '../../spec/command.ts';
import type { Kind } from '../../spec/kind.ts';
import { flagOf, type NamedOption, named } from '../../spec/option.ts';

// Decides what TAB offers, as a pure function of the words before the cursor and the specs of the commands. It only names
// what the shell, the config file or the service must be asked for.

export interface Candidate {
  readonly text: string;
  /** One line about it; empty if there is nothing to say. */
  readonly help: string;
}

export interface Completions {
  /** The start of the current word that stays before every candidate: `--color=`, `-j`, or nothing. */
  readonly prefix: string;
  readonly candidates: readonly Candidate[];
  /** What must be looked up in addition: paths, the files of the filing `args[0]`, or the profiles of the config file. */
  readonly lookUp?: 'file' | 'directory' | 'name' | 'profile' | undefined;
  /** The arguments of the command before the cursor. */
  readonly args: readonly string[];
  /** The options before the cursor by their names, such as `baseUrl`; true for a switch. */
  readonly given: Readonly<Record<string, string | true>>;
}

/** The words before the current one. A word that does not fit is passed over, because the line is still being typed. */
interface Line {
  readonly spec: CommandSpec;
  readonly args: readonly string[];
  readonly given: Readonly<Record<string, string | true>>;
  /** The last word is this option, and the current word is its value. */
  readonly pending: NamedOption | undefined;
  /** `--` has ended the options. */
  readonly isEnded: boolean;
}

type Offered = Pick<Completions, 'candidates' | 'lookUp'>;

const NOTHING: Offered = { candidates: [] };

/** Returns what may stand in place of the last of `words`, the words after the program's name. */
export function completionsFor(words: readonly string[], commands: readonly CommandSpec[]): Completions {
  const line = readLine(words.slice(0, -1), commands);
  const { args, given } = line;
  const current = words.at(-1) ?? '';
  if (line.pending) return { ...valuesOf(line.pending.kind, line, commands), prefix: '', args, given };
  const isOption = !line.isEnded && current.startsWith('-');
  if (!isOption) return { ...argumentsAt(line, commands), prefix: '', args, given };
  const { options, prefix, value } = readOption(current, optionsOf(line.spec));
  if (value === undefined) return { ...optionsAt(line), prefix: '', args, given };
  const [option] = options.filter(takesValue);
  return { ...(option ? valuesOf(option.kind, line, commands) : NOTHING), prefix, args, given };
}

function readLine(words: readonly string[], commands: readonly CommandSpec[]): Line {
  let spec: CommandSpec = { name: 'filings', summary: '', children: commands, options: { version: VERSION_OPTION } };
  let pending: NamedOption | undefined;
  let isEnded = false;
  const args: string[] = [];
  const given: Record<string, string | true> = {};
  for (const word of words) {
    const isOption = !isEnded && /^-./.test(word);
    const child = isEnded ? undefined : spec.children?.find(({ name }) => name === word);
    if (pending) {
      given[pending.name] = word;
      pending = undefined;
    } else if (word === '--' && !isEnded) {
      isEnded = true;
    } else if (isOption) {
      const { options, value } = readOption(word, optionsOf(spec));
      for (const option of options) {
        if (!takesValue(option)) given[option.name] = true;
        else if (value === undefined) pending = option;
        else given[option.name] = value;
      }
    } else if (child) {
      spec = child;
    } else {
      args.push(word);
    }
  }
  return { spec, args, given, pending, isEnded };
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

/** A group takes the options of the command that runs when none is named. */
function optionsOf({ options, children, defaultChild }: CommandSpec): readonly NamedOption[] {
  const child = children?.find(({ name }) => name === defaultChild);
  return [...named(options), ...named(child?.options), ...SHARED_OPTIONS, HELP_OPTION];
}

function flagsOf({ short, flag }: NamedOption): readonly string[] {
  return short === undefined ? [`--${flag}`] : [`-${short}`, `--${flag}`];
}

/** The options that the line does not have yet, and those that may be repeated. */
function optionsAt({ spec, given }: Line): Offered {
  const options = optionsOf(spec).filter(({ name, repeatable }) => repeatable || given[name] === undefined);
  return {
    candidates: options.flatMap((option) => flagsOf(option).map((text) => ({ text, help: helpLine(option) }))),
  };
}

function argumentsAt(line: Line, commands: readonly CommandSpec[]): Offered {
  const { spec, args } = line;
  if (spec.children) return args.length === 0 ? { candidates: commandsOf(spec.children) } : NOTHING;
  const last = spec.arguments?.at(-1);
  const argument = spec.arguments?.[args.length] ?? (last?.variadic ? last : undefined);
  return argument ? valuesOf(argument, line, commands) : NOTHING;
}

function commandsOf(specs: readonly CommandSpec[]): readonly Candidate[] {
  return specs.map(({ name, summary }) => ({ text: name, help: summary }));
}

type Valued = Pick<ArgumentSpec & Kind<unknown>, 'choices' | 'suggests' | 'completes' | 'json'>;

function valuesOf(
  { choices, suggests, completes, json }: Valued,
  line: Line,
  commands: readonly CommandSpec[],
): Offered {
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

/** The values of the setting that the argument before names. */
function valuesOfSetting(line: Line, commands: readonly CommandSpec[]): Offered {
  const name = line.args.at(-1) ?? '';
  const setting = SETTINGS.find(({ key, inFile }) => inFile && [key, flagOf(key)].includes(name));
  return setting ? valuesOf(setting.kind, line, commands) : NOTHING;
}

/** The commands below the one that the arguments name, and at the top the other topics. */
function topicsAt(args: readonly string[], commands: readonly CommandSpec[], topics: readonly Candidate[]) {
  let specs = commands;
  for (const arg of args) specs = specs.find(({ name }) => name === arg)?.children ?? [];
  const names = specs.map(({ name }) => name);
  const others = args.length === 0 ? topics.filter(({ text }) => !names.includes(text)) : [];
  return [...commandsOf(specs), ...others];
}
