// The kinds of values that options and settings have, such as a duration or a size. A kind turns a string into the
// value, and describes the string for the help, the completions and the schema of the config file.
import { MAX_TIMER_MS } from '../abort.ts';
import { grouped, orList } from '../text.ts';

/**
 * What a value is: a file, a directory, the name of a file of the filing before it, a profile of the config file, or a
 * value of the setting before it.
 */
export type Completes = 'file' | 'directory' | 'name' | 'profile' | 'value';

/** Reads a string from the command line, of an environment variable or of the config file. */
export interface Kind<T> {
  /** Returns the value, or undefined if the text is invalid. */
  readonly parse: (text: string) => T | undefined;
  /** The end of the error message after `must be`, with an example. */
  readonly expected: string;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
  /** Values that the completions offer. Others are accepted, too. */
  readonly suggests?: readonly string[];
  /** The type in the config file, if it is not a string. */
  readonly json?: 'boolean' | 'integer' | 'words' | 'texts' | 'object';
  /** The members of an object. */
  readonly members?: Readonly<Record<string, Kind<unknown>>>;
  readonly range?: readonly [least: number, most: number];
  /** The pattern of the string in the config file. The config file's schema shows it to editors. */
  readonly form?: RegExp;
  /** Set if an invalid text may hold a password. Errors do not quote it then. */
  readonly hidden?: true;
}

export const TEXT: Kind<string> = { parse: (text) => text, expected: 'a string in quotes' };

export const PROFILE: Kind<string> = { ...TEXT, completes: 'profile' };

/** Refuses an empty path, which would be the working directory. */
const parsePath = (text: string) => text || undefined;
export const FILE: Kind<string> = { parse: parsePath, expected: 'a file', completes: 'file' };
export const DIRECTORY: Kind<string> = { parse: parsePath, expected: 'a directory', completes: 'directory' };

const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** The largest time that a Date can hold, in milliseconds since the epoch. */
const LAST_TIME = 8.64e15;
const DURATION_FORM = /^(\d{1,15}(?:\.\d{1,9})?)(ms|s|m|h|d)$/;

/** A duration in milliseconds. */
export const DURATION: Kind<number> = {
  parse(text) {
    const [, amount, unit] = DURATION_FORM.exec(text) ?? [];
    const milliseconds = Number(amount) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
    return milliseconds <= LAST_TIME ? Math.round(milliseconds) : undefined;
  },
  expected: 'a duration, such as 500ms, 30s, 5m, 2h or 1d',
  form: DURATION_FORM,
};

/** A duration in milliseconds, above zero. A longer one than a timer accepts is shortened to that. */
export const TIMEOUT: Kind<number> = {
  ...DURATION,
  parse: (text) => Math.min(DURATION.parse(text) ?? 0, MAX_TIMER_MS) || undefined,
  expected: 'a duration above zero, such as 500ms, 30s, 5m, 2h or 1d',
};

/** A duration in whole seconds, at least one. */
export const WHOLE_SECONDS: Kind<number> = {
  ...DURATION,
  parse: (text) => {
    const seconds = (DURATION.parse(text) ?? 0) / 1_000;
    return seconds >= 1 && Number.isInteger(seconds) ? seconds : undefined;
  },
  expected: 'a duration of whole seconds, such as 90s, 5m or 1h',
};

const RATE_FORM = /^(\d{1,15}(?:\.\d{1,9})?)\/([sm])$/;

/** A rate per second, above zero. */
export const RATE: Kind<number> = {
  parse(text) {
    const [, amount, unit] = RATE_FORM.exec(text) ?? [];
    return Number(amount) / (unit === 's' ? 1 : 60) || undefined;
  },
  expected: 'a number a second or a minute, such as 10/s or 90/m',
  form: RATE_FORM,
};

const SIZE_FORM = /^(\d{1,16}(?:\.\d{1,9})?) ?([kmgtp]i?)?b?$/i;
const PREFIXES = 'kmgtp';

/** A size in bytes. Units are decimal, those with an `i` binary. */
export const SIZE: Kind<number> = {
  parse(text) {
    const [, amount, unit = ''] = SIZE_FORM.exec(text) ?? [];
    const base = /i$/i.test(unit) ? 1024 : 1000;
    const bytes = Number(amount) * base ** (unit === '' ? 0 : PREFIXES.indexOf(unit.charAt(0).toLowerCase()) + 1);
    return bytes <= Number.MAX_SAFE_INTEGER ? Math.round(bytes) : undefined;
  },
  expected: 'a size, such as 500000, 200kB, 1.5MB or 1GiB',
};

/** A bandwidth in bytes per second, above zero. */
export const BANDWIDTH: Kind<number> = {
  parse: (text) => SIZE.parse(text.replace(/\/s$/, '')) || undefined,
  expected: 'a size a second, such as 500kB/s or 2MB',
};

/** A timestamp of RFC 3339, section 5.6, without leap seconds. The offset is required. */
const TIMESTAMP =
  /^(\d{4}-\d\d)-(\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?)(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** A time in milliseconds since the epoch. */
export const TIME: Kind<number> = {
  parse(text) {
    if (/^\d{1,13}$/.test(text)) return Number(text) * 1_000 <= LAST_TIME ? Number(text) * 1_000 : undefined;
    const [, month, day, clock, zone = ''] = TIMESTAMP.exec(text) ?? [];
    // Date.parse would read the 30th of February as the 2nd of March.
    const isDay = new Date(`${month}-${day}T00:00:00Z`).getUTCDate() === Number(day);
    return isDay ? Date.parse(`${month}-${day}T${clock}${zone.toUpperCase()}`) : undefined;
  },
  expected: 'a time as RFC 3339 has it, such as 2025-01-31T12:00:00Z, or seconds since the epoch',
};

/** A switch. It has no value on the command line, but has one in an environment variable. */
export const SWITCH: Kind<boolean> = {
  parse: (text) => (/^(1|true)$/.test(text) ? true : /^(0|false)$/.test(text) ? false : undefined),
  expected: '1 or true, 0 or false',
  json: 'boolean',
};

/** A whole number from `least` to `most`. */
export function count(least: number, most: number, example: number): Kind<number> {
  return {
    parse(text) {
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return number >= least && number <= most ? number : undefined;
    },
    expected: `a whole number from ${least} to ${grouped(most)}, such as ${example}`,
    json: 'integer',
    range: [least, most],
  };
}

/** One of several words. */
export function choice<const T extends string>(...choices: readonly T[]): Kind<T> {
  return { parse: (text) => choices.find((one) => one === text), expected: orList(choices), choices };
}

/** A parameter of the listing's query. */
export const QUERY: Kind<readonly [name: string, value: string]> = {
  parse(text) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    return name === '' || /^accession_no$/i.test(name) ? undefined : [name, value];
  },
  expected: 'NAME=VALUE, such as form=10-K; accession_no is always sent',
  hidden: true,
};
