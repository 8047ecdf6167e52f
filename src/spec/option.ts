// Describes options as data. The parser, the help, the manual, the completions and the TypeScript types of the values
// are made from these descriptions, so that they never differ. An option belongs to one command. A setting applies to
// all commands, and may also come from the environment or the config file. Also parses a value, and makes the error for
// a wrong one.
import { FilingsError } from '../errors.ts';
import { markForRedaction } from '../secrets.ts';
import { orList } from '../text.ts';
import { type Kind, SWITCH } from './kind.ts';

/** An option or a setting. Records of options have the names in camel case as keys: `maxBytes` is `--max-bytes`. */
export interface OptionSpec<T = unknown> {
  readonly kind: Kind<T>;
  readonly short?: string;
  /** The placeholder for the value in the usage, such as `FILE`. A switch has none. */
  readonly value?: string;
  /** Not parsed yet: as it would be written on the command line. */
  readonly default?: string;
  /** What the help says about a default that depends on something else. */
  readonly defaultText?: string;
  readonly repeatable?: true;
  /** The names (not the flags) of options that cannot be used together with this one. */
  readonly excludes?: readonly string[];
  /** One line of under 60 characters, for the help, the completions and the manual. */
  readonly help: string;
  /** More sentences, for the manual only. */
  readonly longHelp?: string;
  /** In the help, this option and those below it are under this heading. */
  readonly heading?: string;
}

export type Options = Readonly<Record<string, OptionSpec>>;

/**
 * The type of a parsed option. If it is not given, a repeatable option is an empty list, a switch is false, and any
 * other option without a default is undefined. With the brackets, `boolean` is compared as a whole, and not as a union
 * of `true` and `false`.
 */
export type ValueOf<O> = O extends { readonly kind: Kind<infer T> }
  ? O extends { readonly repeatable: true }
    ? readonly T[]
    : [T] extends [boolean]
      ? boolean
      : T | (O extends { readonly default: string } ? never : undefined)
  : never;

export type Values<O> = { readonly [Name in keyof O]: ValueOf<O[Name]> };

/** Returns the record unchanged, with its literal types, such as `repeatable: true`, on which `Values` depends. */
export function defineOptions<const O extends Options>(record: O): O {
  return record;
}

export interface NamedOption extends OptionSpec {
  readonly name: string;
  /** `--max-bytes` for `maxBytes`. */
  readonly flag: string;
}

export function toNamedOptions(record: Options = {}): readonly NamedOption[] {
  return Object.entries(record).map(([name, spec]) => ({ ...spec, name, flag: `--${toKebabCase(name)}` }));
}

/** For completions and the help. It is in no record of options, because commander adds it to every command. */
export const HELP_OPTION: NamedOption = { name: 'help', flag: '--help', kind: SWITCH, short: 'h', help: 'show help' };

/** Returns the help, with the choices (unless it mentions all of them already) and whether the option is repeatable. */
export function formatHelpLine({ help, kind: { choices }, repeatable }: OptionSpec): string {
  const addsChoices = choices !== undefined && !choices.every((choice) => help.includes(choice));
  return `${help}${addsChoices ? ` (${orList(choices)})` : ''}${repeatable ? ' (repeatable)' : ''}`;
}

/** Returns the help, the choices, the default and the environment variable. */
export function describeOption(spec: OptionSpec & { readonly env?: string | undefined }): string {
  const { value: placeholder, default: fixedDefault, defaultText = fixedDefault, env } = spec;
  // Only a switch has no placeholder. Its default, off, goes without saying.
  const notes = [placeholder && defaultText && `(default: ${defaultText})`, env && `(env: ${env})`];
  return [formatHelpLine(spec), ...notes].filter(Boolean).join(' ');
}

/** Returns `max-bytes` for `maxBytes`. */
export function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Returns the parsed value. If the text is invalid, throws `usage` or `config`, with the source and what is expected.
 * If `source` is a string, it is the name of the source, such as `--jobs`, and the error is `usage`.
 */
export function parseOrThrow<T>(kind: Kind<T>, text: string, source: string | ValueSource): T {
  const value = kind.parse(text);
  if (value === undefined)
    throw valueError(source, `must be ${kind.expected}`, kind.mayHoldPassword ? undefined : text);
  return value;
}

/** Where a value was set. */
export interface ValueSource {
  /** `--jobs`, `FILINGS_JOBS` or `config.json: jobs`, for example. */
  readonly name: string;
  /** The code of errors about the value. */
  readonly code: 'usage' | 'config';
}

/**
 * Returns the error for a wrong value, which quotes `text`, if it is given. The quote is marked for redaction: it is
 * shown, but any secret of this run in it is hidden, because the user may have put an API key there by mistake.
 */
export function valueError(source: string | ValueSource, fault: string, text?: string): FilingsError {
  const { name, code } = typeof source === 'string' ? { name: source, code: 'usage' as const } : source;
  const actual = text === undefined ? '' : text === '' ? ', but is empty' : `, not '${markForRedaction(text)}'`;
  return new FilingsError(code, `${fault}${actual}`, { subject: { name } });
}
