// A kind parses a value from a string, and describes it for error messages, completions and the schema of the config
// file.
import { MAX_TIMER_MS } from '../abort.ts';
import { grouped, orList } from '../text.ts';

/**
 * A `listed file` belongs to the filing whose accession number is the first argument. A `setting value` is a value of
 * the setting whose name is the first argument.
 */
export type CompletionSource = 'listed file' | 'profile' | 'setting value';

export interface Kind<T> {
  /** Returns undefined if the text is invalid. */
  readonly parse: (text: string) => T | undefined;
  /** Follows `must be` in the error message. */
  readonly expected: string;
  /** Returns what an invalid text was probably meant to be. */
  readonly repair?: (text: string) => string | undefined;
  readonly choices?: readonly string[];
  readonly completes?: CompletionSource;
  /** The value is a local path. It may begin with `~/`, and in the config file it is made absolute. */
  readonly isPath?: true;
  /** Offered by the completions. Others are valid as well. */
  readonly examples?: readonly string[];
  /** The type in the config file, if it is not a string. A `string map` is an object whose members are strings. */
  readonly json?: 'boolean' | 'integer' | 'string array' | 'string map' | 'object';
  readonly members?: Readonly<Record<string, Kind<unknown>>>;
  /** For `json: 'integer'`. */
  readonly bounds?: { readonly min: number; readonly max: number };
  /** All valid strings match this pattern, which the schema of the config file uses. `parse` may be stricter. */
  readonly pattern?: RegExp;
  /** Errors must not quote an invalid text, which may hold a password. */
  readonly mayHoldPassword?: true;
}

/** `expected` is shown only if the value in the config file is a number without quotes, for example. */
export const TEXT: Kind<string> = { parse: (text) => text, expected: 'a string in quotes' };

export const PROFILE: Kind<string> = { ...TEXT, completes: 'profile' };

/** Node would resolve an empty path to the working directory. */
export const FILE: Kind<string> = { parse: (text) => text || undefined, expected: 'a file', isPath: true };
export const DIRECTORY: Kind<string> = { ...FILE, expected: 'a directory' };

const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** The latest time that a Date can hold, in milliseconds since the epoch. */
const MAX_DATE_MS = 8.64e15;
const DURATION_PATTERN = /^(\d{1,15}(?:\.\d{1,9})?)(ms|s|m|h|d)$/;

/** In milliseconds. */
export const DURATION: Kind<number> = {
  parse(text) {
    const [, amount, unit] = DURATION_PATTERN.exec(text) ?? [];
    const milliseconds = Number(amount) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
    // NaN, if the text does not match, makes the comparison false.
    return milliseconds <= MAX_DATE_MS ? Math.round(milliseconds) : undefined;
  },
  expected: 'a duration, such as 500ms, 30s, 5m, 2h or 1d',
  pattern: DURATION_PATTERN,
};

/** In milliseconds. A duration that is too long for a timer becomes the longest: about 25 days. */
export const TIMEOUT: Kind<number> = {
  ...DURATION,
  // An invalid text becomes 0, and then undefined, like a duration of zero.
  parse: (text) => Math.min(DURATION.parse(text) ?? 0, MAX_TIMER_MS) || undefined,
  expected: 'a duration above zero, such as 500ms, 30s, 5m, 2h or 1d',
};

/** The value and `min` are in seconds, unlike those of the two above. */
export function wholeSeconds(min: number): Kind<number> {
  return {
    ...DURATION,
    parse(text) {
      const seconds = (DURATION.parse(text) ?? 0) / 1_000;
      return seconds >= min && Number.isInteger(seconds) ? seconds : undefined;
    },
    expected: `a duration of whole seconds, at least ${min}s, such as 90s, 5m or 1h`,
  };
}

const RATE_PATTERN = /^(\d{1,15}(?:\.\d{1,9})?)\/([sm])$/;

/** Per second. NaN, the result for a text that does not match, becomes undefined. */
export const RATE: Kind<number> = {
  parse(text) {
    const [, amount, unit] = RATE_PATTERN.exec(text) ?? [];
    return Number(amount) / (unit === 's' ? 1 : 60) || undefined;
  },
  expected: 'a number per second or per minute, such as 10/s or 90/m',
  pattern: RATE_PATTERN,
};

const SIZE_PATTERN = /^(\d{1,16}(?:\.\d{1,9})?) ?([kmgtp]i?)?b?$/i;
/** The prefixes of the powers of 1000 (or 1024), in order. */
const PREFIXES = 'kmgtp';

/** In bytes. 1 kB is 1000 bytes, and 1 KiB is 1024. */
export const SIZE: Kind<number> = {
  parse(text) {
    const [, amount, prefix = ''] = SIZE_PATTERN.exec(text) ?? [];
    const base = /i$/i.test(prefix) ? 1024 : 1000;
    const exponent = prefix === '' ? 0 : PREFIXES.indexOf(prefix.charAt(0).toLowerCase()) + 1;
    const bytes = Number(amount) * base ** exponent;
    return bytes <= Number.MAX_SAFE_INTEGER ? Math.round(bytes) : undefined;
  },
  expected: 'a size, such as 500000, 200kB, 1.5MB or 1GiB',
};

/** In bytes per second. */
export const BANDWIDTH: Kind<number> = {
  parse: (text) => SIZE.parse(text.replace(/\/s$/, '')) || undefined,
  expected: 'a size per second, such as 500kB/s or 2MB',
};

/** RFC 3339, section 5.6, without leap seconds. The offset from UTC is required. */
const TIMESTAMP =
  /^(\d{4}-\d\d)-(\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?)(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** In milliseconds since the epoch. */
export const TIME: Kind<number> = {
  parse(text) {
    // Digits alone are seconds since the epoch.
    if (/^\d{1,13}$/.test(text)) return Number(text) * 1_000 <= MAX_DATE_MS ? Number(text) * 1_000 : undefined;
    const [, month, day, clock, zone = ''] = TIMESTAMP.exec(text) ?? [];
    // Date.parse accepts February 30 and reads it as March 2, or as March 1 in a leap year.
    const dayExists = new Date(`${month}-${day}T00:00:00Z`).getUTCDate() === Number(day);
    return dayExists ? Date.parse(`${month}-${day}T${clock}${zone.toUpperCase()}`) : undefined;
  },
  expected: 'an RFC 3339 time, such as 2025-01-31T12:00:00Z, or seconds since the epoch',
};

/** `expected` is for an environment variable. On the command line a switch has no value. */
export const SWITCH: Kind<boolean> = {
  parse: (text) => (/^(1|true)$/.test(text) ? true : /^(0|false)$/.test(text) ? false : undefined),
  expected: '1 or true, 0 or false',
  json: 'boolean',
};

/** The example appears in the error message. */
export function integer({ min, max, example }: Readonly<Record<'min' | 'max' | 'example', number>>): Kind<number> {
  return {
    parse(text) {
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
    expected: `a whole number from ${min} to ${grouped(max)}, such as ${example}`,
    json: 'integer',
    bounds: { min, max },
  };
}

export function choice<const T extends string>(...choices: readonly T[]): Kind<T> {
  return { parse: (text) => choices.find((one) => one === text), expected: orList(choices), choices };
}

/** The program sets `accession_no` itself. */
export const QUERY: Kind<readonly [name: string, value: string]> = {
  parse(text) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    return name === '' || /^accession_no$/i.test(name) ? undefined : [name, value];
  },
  expected: 'NAME=VALUE, such as form=10-K; accession_no is always sent',
  mayHoldPassword: true,
};
