// Options as data, like commands. The TypeScript types of their values are made from it, too.
import { FilingsError } from '../errors.ts';
import { markForRedaction } from '../secrets.ts';
import { isInQuotes, orList, QUOTES_HINT } from '../text.ts';
import { type Kind, SWITCH } from './kind.ts';

/** Records of options have the names in camel case as keys: `maxBytes` is `--max-bytes`. */
export interface OptionSpec<T = unknown> {
  readonly kind: Kind<T>;
  readonly short?: string;
  /** The placeholder in the usage, such as `FILE`. A switch has none. */
  readonly value?: string;
  /** Written as on the command line, and parsed like it. */
  readonly default?: string;
  /** Only for the help, if the default depends on something else. */
  readonly defaultText?: string;
  readonly repeatable?: true;
  /** Names, not flags. It applies in both directions. */
  readonly excludes?: readonly string[];
  /** One line of under 60 characters, for the help, the completions and the manual. */
  readonly help: string;
  /** Only the manual shows these sentences. */
  readonly longHelp?: string;
  /** The help has this option and those below it under this heading. */
  readonly heading?: string;
}

export type Options = Readonly<Record<string, OptionSpec>>;

/** With the brackets, `boolean` is compared as a whole, and not as a union of `true` and `false`. */
export type ValueOf<O> = O extends { readonly kind: Kind<infer T> }
  ? O extends { readonly repeatable: true }
    ? readonly T[]
    : [T] extends [boolean]
      ? boolean
      : T | (O extends { readonly default: string } ? never : undefined)
  : never;

export type Values<O> = { readonly [Name in keyof O]: ValueOf<O[Name]> };

/** Keeps the literal types, such as `repeatable: true`, on which `Values` depends. */
export function defineOptions<const O extends Options>(record: O): O {
  return record;
}

export interface NamedOption extends OptionSpec {
  readonly name: string;
  readonly flag: string;
}

export function toNamedOptions(record: Options = {}): readonly NamedOption[] {
  return Object.entries(record).map(([name, spec]) => ({ ...spec, name, flag: `--${toKebabCase(name)}` }));
}

/** Completions and the help need this. Commander adds it to every command. */
export const HELP_OPTION: NamedOption = { name: 'help', flag: '--help', kind: SWITCH, short: 'h', help: 'show help' };

/** Adds the choices (unless the help mentions all of them) and whether the option is repeatable. */
export function formatHelpLine({ help, kind: { choices }, repeatable }: OptionSpec): string {
  const addsChoices = choices !== undefined && !choices.every((choice) => help.includes(choice));
  return `${help}${addsChoices ? ` (${orList(choices)})` : ''}${repeatable ? ' (repeatable)' : ''}`;
}

export function describeOption(spec: OptionSpec & { readonly env?: string | undefined }): string {
  const { value: placeholder, default: fixedDefault, defaultText = fixedDefault, env } = spec;
  // Only a switch has no placeholder. Its default, off, goes without saying.
  const notes = [placeholder && defaultText && `(default: ${defaultText})`, env && `(env: ${env})`];
  return [formatHelpLine(spec), ...notes].filter(Boolean).join(' ');
}

export function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** A `source` that is a string is the name of a flag, such as `--jobs`. */
export function parseOrThrow<T>(kind: Kind<T>, text: string, source: string | ValueSource): T {
  const value = kind.parse(text);
  if (value !== undefined) return value;
  if (isInQuotes(text)) throw valueError(source, 'is in quotes').with({ hint: QUOTES_HINT });
  const repaired = kind.repair?.(text);
  throw valueError(source, `must be ${kind.expected}`, kind.mayHoldPassword ? undefined : text).with({
    hint: repaired && `did you mean ${markForRedaction(repaired)}?`,
  });
}

export interface ValueSource {
  /** `--jobs`, `FILINGS_JOBS` or `config.json: jobs`, for example. */
  readonly name: string;
  readonly code: 'usage' | 'config';
}

/** The user may have put an API key there by mistake, so the quote is marked for redaction. */
export function valueError(source: string | ValueSource, fault: string, text?: string): FilingsError {
  const { name, code } = typeof source === 'string' ? { name: source, code: 'usage' as const } : source;
  const actual = text === undefined ? '' : text === '' ? ', but is empty' : `, not '${markForRedaction(text)}'`;
  return new FilingsError(code, `${fault}${actual}`, { subject: { name } });
}
