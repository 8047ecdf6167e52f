// Options as data. The parser, the help, the manual, the completions and the types of the values are made from it.
import { FilingsError } from '../errors.ts';
import { markForeign } from '../secrets.ts';
import { orList } from '../text.ts';
import { type Kind, SWITCH } from './kind.ts';

/**
 * An option of a command, or a setting that has a flag. Its key in the record of options is its name in camel case: `maxBytes` is `--max-bytes`.
 */
export interface OptionSpec<T = unknown> {
  readonly kind: Kind<T>;
  readonly short?: string;
  /** The placeholder of its value. A switch has none. */
  readonly value?: string;
  /** The default value, as it would be written on the command line. */
  readonly default?: string;
  /** The text of help about a default that depends on something else. */
  readonly defaultText?: string;
  readonly repeatable?: true;
  /** The names of options that cannot be used with it. */
  readonly excludes?: readonly string[];
  /** One line for the help, the completions and the manual. */
  readonly help: string;
  /** More sentences, which only the manual has. */
  readonly longHelp?: string;
  /** The heading in the help above this option and those that follow. */
  readonly heading?: string;
}

export type Options = Readonly<Record<string, OptionSpec>>;

/** The value of an option: false for a switch that is not given, undefined for an option without a default. */
export type ValueOf<O> = O extends { readonly kind: Kind<infer T> }
  ? O extends { readonly repeatable: true }
    ? readonly T[]
    : [T] extends [boolean]
      ? boolean
      : T | (O extends { readonly default: string } ? never : undefined)
  : never;

export type Values<O> = { readonly [Name in keyof O]: ValueOf<O[Name]> };

export function options<const O extends Options>(record: O): O {
  return record;
}

export interface NamedOption extends OptionSpec {
  readonly name: string;
  readonly flag: string;
}

export function named(record: Options = {}): readonly NamedOption[] {
  return Object.entries(record).map(([name, spec]) => ({ ...spec, name, flag: flagOf(name) }));
}

export const HELP_OPTION: NamedOption = { name: 'help', flag: 'help', kind: SWITCH, short: 'h', help: 'show help' };

/** Returns the help of an option, with its choices unless the help names them. */
export function helpLine({ help, kind: { choices }, repeatable }: OptionSpec): string {
  const omitsChoices = choices !== undefined && !choices.every((choice) => help.includes(choice));
  return `${help}${omitsChoices ? ` (${orList(choices)})` : ''}${repeatable ? ' (repeatable)' : ''}`;
}

/** Returns the help of an option with its default and its environment variable. */
export function optionText(spec: OptionSpec & { readonly env?: string | undefined }): string {
  const { default: value, defaultText = value, env } = spec;
  const notes = [spec.value && defaultText && `(default: ${defaultText})`, env && `(env: ${env})`];
  return [helpLine(spec), ...notes].filter(Boolean).join(' ');
}

/** Returns the flag of a name: `max-bytes` for `maxBytes`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Returns the value of a text. A source that is a plain string is the name of a flag. Throws `usage` or `config`, with
 * the source and an example.
 */
export function readAs<T>(kind: Kind<T>, text: string, source: string | ValueSource): T {
  const value = kind.parse(text);
  if (value === undefined) throw valueError(source, `must be ${kind.expected}`, kind.hidden ? undefined : text);
  return value;
}

/** The source of a value (`--jobs`, `FILINGS_JOBS`, `config.json: jobs`), and the code of errors about it. */
export interface ValueSource {
  readonly name: string;
  readonly code: 'usage' | 'config';
}

/** Returns the error about a value. It quotes `text`, in which a known key is redacted: it may be in a wrong place. */
export function valueError(source: string | ValueSource, fault: string, text?: string): FilingsError {
  const { name, code } = typeof source === 'string' ? { name: source, code: 'usage' as const } : source;
  const seen = text === undefined ? '' : text === '' ? ', and is empty' : `, not '${markForeign(text)}'`;
  return new FilingsError(code, `${fault}${seen}`, { subject: { name } });
}
