import { grouped, orList } from '../text.ts';

/** What the completions look up: a path, or a file of the filing before it. */
export type Completes = 'file' | 'directory' | 'name';

/** How a text on the command line, in a variable or in the config file is read. */
export interface Kind<T> {
  /** Undefined when the text is not of the form. */
  readonly parse: (text: string) => T | undefined;
  /** What follows `must be`, an example in it. */
  readonly wanted: string;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
  /** Words that the completions offer; others are read, too. */
  readonly suggests?: readonly string[];
  /** Its type in the config file, if that is not a text. */
  readonly json?: 'boolean' | 'integer' | 'words' | 'object';
  /** The members of an object. */
  readonly members?: Readonly<Record<string, Kind<unknown>>>;
  readonly range?: readonly [least: number, most: number];
  /** What the text of a config file must match; for editors too. */
  readonly form?: RegExp;
  /** A text that cannot be read may hold a password: no error shows it. */
  readonly hidden?: true;
}

export const TEXT: Kind<string> = { parse: (text) => text, wanted: 'a text in quotes' };

/** An empty path would be the working directory. */
const parsePath = (text: string) => text || undefined;
export const FILE: Kind<string> = { parse: parsePath, wanted: 'a file', completes: 'file' };
export const DIRECTORY: Kind<string> = { parse: parsePath, wanted: 'a directory', completes: 'directory' };

const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** The largest time that a Date can hold, in milliseconds since the epoch. */
const LAST_TIME = 8.64e15;
const DURATION_FORM = /^(\d{1,15}(?:\.\d{1,9})?)(ms|s|m|h|d)$/;

/** Milliseconds. */
export const DURATION: Kind<number> = {
  parse(text) {
    const [, amount, unit] = DURATION_FORM.exec(text) ?? [];
    const milliseconds = Number(amount) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
    return milliseconds <= LAST_TIME ? Math.round(milliseconds) : undefined;
  },
  wanted: 'a duration, such as 500ms, 30s, 5m, 2h or 1d',
  form: DURATION_FORM,
};

/** What a timer can count; a longer time is as good as none. Milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Milliseconds, above nothing. */
export const TIMEOUT: Kind<number> = {
  ...DURATION,
  parse: (text) => Math.min(DURATION.parse(text) ?? 0, LONGEST_TIMER) || undefined,
  wanted: 'a duration above zero, such as 500ms, 30s, 5m, 2h or 1d',
};

/** Seconds, at least one. */
export const WHOLE_SECONDS: Kind<number> = {
  ...DURATION,
  parse: (text) => {
    const seconds = (DURATION.parse(text) ?? 0) / 1_000;
    return seconds >= 1 && Number.isInteger(seconds) ? seconds : undefined;
  },
  wanted: 'a duration of whole seconds, such as 90s, 5m or 1h',
};

const RATE_FORM = /^(\d{1,15}(?:\.\d{1,9})?)\/([sm])$/;

/** How many a second, more than none. */
export const RATE: Kind<number> = {
  parse(text) {
    const [, amount, unit] = RATE_FORM.exec(text) ?? [];
    return Number(amount) / (unit === 's' ? 1 : 60) || undefined;
  },
  wanted: 'a number a second or a minute, such as 10/s or 90/m',
  form: RATE_FORM,
};

const SIZE_FORM = /^(\d{1,16}(?:\.\d{1,9})?) ?([kmgtp]i?)?b?$/i;
const PREFIXES = 'kmgtp';

/** Bytes; units are decimal, those with an `i` binary. */
export const SIZE: Kind<number> = {
  parse(text) {
    const [, amount, unit = ''] = SIZE_FORM.exec(text) ?? [];
    const base = /i$/i.test(unit) ? 1024 : 1000;
    const bytes = Number(amount) * base ** (unit === '' ? 0 : PREFIXES.indexOf(unit.charAt(0).toLowerCase()) + 1);
    return bytes <= Number.MAX_SAFE_INTEGER ? Math.round(bytes) : undefined;
  },
  wanted: 'a size, such as 500000, 200kB, 1.5MB or 1GiB',
};

/** Bytes a second, above nothing. */
export const BANDWIDTH: Kind<number> = {
  parse: (text) => SIZE.parse(text.replace(/\/s$/, '')) || undefined,
  wanted: 'a size a second, such as 500kB/s or 2MB',
};

/** RFC 3339 section 5.6, without leap seconds; the offset may not be omitted. */
const TIMESTAMP =
  /^(\d{4}-\d\d)-(\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?)(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** Milliseconds since the epoch. */
export const TIME: Kind<number> = {
  parse(text) {
    if (/^\d{1,13}$/.test(text)) return Number(text) * 1_000 <= LAST_TIME ? Number(text) * 1_000 : undefined;
    const [, month, day, clock, zone = ''] = TIMESTAMP.exec(text) ?? [];
    // To Date.parse, the 30th of February is the 2nd of March.
    const isDay = new Date(`${month}-${day}T00:00:00Z`).getUTCDate() === Number(day);
    return isDay ? Date.parse(`${month}-${day}T${clock}${zone.toUpperCase()}`) : undefined;
  },
  wanted: 'a time as RFC 3339 has it, such as 2025-01-31T12:00:00Z, or seconds since the epoch',
};

/** On the command line a switch has no value; in a variable it has one. */
export const SWITCH: Kind<boolean> = {
  parse: (text) => (/^(1|true)$/.test(text) ? true : /^(0|false)$/.test(text) ? false : undefined),
  wanted: '1 or true, 0 or false',
  json: 'boolean',
};

export function count(least: number, most: number, example: number): Kind<number> {
  return {
    parse(text) {
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return number >= least && number <= most ? number : undefined;
    },
    wanted: `a whole number from ${least} to ${grouped(most)}, such as ${example}`,
    json: 'integer',
    range: [least, most],
  };
}

export function choice<const T extends string>(...choices: readonly T[]): Kind<T> {
  return { parse: (text) => choices.find((one) => one === text), wanted: orList(choices), choices };
}

export const QUERY: Kind<readonly [name: string, value: string]> = {
  parse(text) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    return name === '' || /^(accession_no|page_size|page_number)$/i.test(name) ? undefined : [name, value];
  },
  wanted: 'NAME=VALUE, such as form=10-K; accession_no is always sent, and page_size and page_number by --page-size N',
  hidden: true,
};
