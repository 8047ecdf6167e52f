import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';
import type { Kind } from './kind.ts';

/**
 * An option as data: its parser, its place in help, manual and completions, and the type of its value are made from
 * it. It stands in a record under its camel-cased name: `maxBytes` is `--max-bytes`.
 */
export interface OptionSpec<T = unknown> {
  readonly kind: Kind<T>;
  readonly short?: string;
  /** The placeholder of its value; a switch has none. */
  readonly value?: string;
  /** What it is when nobody names it, as it would be written. */
  readonly default?: string;
  /** Where that depends on other things: what help says of it. */
  readonly otherwise?: string;
  readonly repeatable?: true;
  /** By their names in the record. */
  readonly excludes?: readonly string[];
  readonly help: string;
  /** Whole sentences, for `--help` and the manual. */
  readonly more?: string;
  /** `-h` names it alone. */
  readonly rare?: true;
}

export type Options = Readonly<Record<string, OptionSpec>>;

export type ValueOf<O> = O extends { readonly kind: Kind<infer T> }
  ? O extends { readonly repeatable: true }
    ? readonly T[]
    : [T] extends [boolean]
      ? boolean
      : O extends { readonly default: string }
        ? T
        : T | undefined
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

/** `max-bytes` of `maxBytes`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * A plain string as the source is a flag's name.
 * @throws FilingsError `usage` or `config`, with the source and an example
 */
export function readAs<T>(kind: Kind<T>, text: string, source: string | ValueSource): T {
  const value = kind.parse(text);
  if (value === undefined) throw valueError(source, `must be ${kind.wanted}`, kind.hidden ? undefined : text);
  return value;
}

/** `--jobs`, `FILINGS_JOBS`, `config.json: profiles.work.jobs`; with the code of its errors. */
export interface ValueSource {
  readonly name: string;
  readonly code: 'usage' | 'config';
}

const LONGEST_SHOWN = 40;

/** The error about a value; `text` is shown, shortened: leave it out where it may be a secret. */
export function valueError(source: string | ValueSource, fault: string, text?: string): FilingsError {
  const { name, code } = typeof source === 'string' ? { name: source, code: 'usage' as const } : source;
  const seen = text === undefined ? '' : text === '' ? ', and is empty' : `, not '${shortened(text, LONGEST_SHOWN)}'`;
  return new FilingsError(code, `${name}: ${fault}${seen}`);
}
