import { grouped } from '../text.ts';
import {
  DURATION_FORM,
  orList,
  parseCount,
  parseDuration,
  parseRate,
  parseSize,
  parseSwitch,
  parseTime,
  parseTimeout,
  RATE_FORM,
} from './values.ts';

/** What a text names that no list of words can hold: a path, or a file of the filing before it. */
export type Completes = 'file' | 'directory' | 'name';

/** What a text on the command line, in a variable or in the config file can mean, and how it is read. */
export interface Kind<T> {
  /** Pure; undefined when the text is not of the form. */
  readonly parse: (text: string) => T | undefined;
  /** What follows `must be`, an example in it. */
  readonly wanted: string;
  /** What to do about a text that is not of the form. */
  readonly hint?: string;
  /** All there is to choose from. */
  readonly choices?: readonly string[];
  /** What the completions offer for it. */
  readonly completes?: Completes;
  /** Words that the completions offer; others are read, too. */
  readonly suggests?: readonly string[];
  /** How it stands in the config file, where that is not a text: a switch as true or false, a count as a number. */
  readonly json?: 'boolean' | 'integer' | 'words' | 'recipe';
  /** The least and the most that a count may be. */
  readonly range?: readonly [least: number, most: number];
  /** What the text of a config file must match; for editors too. */
  readonly form?: RegExp;
}

const unchanged = (text: string) => text;

export const TEXT: Kind<string> = { parse: unchanged, wanted: 'a text in quotes' };
/** An empty path would be the working directory. */
const parsePath = (text: string) => text || undefined;
export const FILE: Kind<string> = {
  parse: parsePath,
  wanted: 'a file',
  hint: 'name one, or leave it away',
  completes: 'file',
};
export const DIRECTORY: Kind<string> = {
  parse: parsePath,
  wanted: 'a directory',
  hint: 'for this one, say .',
  completes: 'directory',
};
/** Milliseconds. */
export const DURATION: Kind<number> = {
  parse: parseDuration,
  wanted: 'a duration, such as 500ms, 30s, 5m, 2h or 1d',
  form: DURATION_FORM,
};
/** Milliseconds, above nothing. */
export const TIMEOUT: Kind<number> = {
  parse: parseTimeout,
  wanted: 'a duration above zero, such as 500ms, 30s, 5m, 2h or 1d',
  form: DURATION_FORM,
};
/** How many a second. */
export const RATE: Kind<number> = {
  parse: parseRate,
  wanted: 'a number a second or a minute, such as 10/s or 90/m',
  form: RATE_FORM,
};
/** Bytes. */
export const SIZE: Kind<number> = { parse: parseSize, wanted: 'a size, such as 500000, 200kB, 1.5MB or 1GiB' };
/** Bytes a second, above nothing. */
export const BANDWIDTH: Kind<number> = {
  parse: (text) => SIZE.parse(text.replace(/\/s$/, '')) || undefined,
  wanted: 'a size a second, such as 500kB/s or 2MB',
};
/** Milliseconds since the epoch. */
export const TIME: Kind<number> = {
  parse: parseTime,
  wanted: 'a time as RFC 3339 has it, such as 2025-01-31T12:00:00Z, or seconds since the epoch',
};
/** On the command line a switch has no value; in a variable it has one. */
export const SWITCH: Kind<boolean> = { parse: parseSwitch, wanted: '1 or true, 0 or false', json: 'boolean' };

/** A whole number within bounds. */
export function count(least: number, most: number, example: number): Kind<number> {
  return {
    parse(text) {
      const number = parseCount(text);
      return number !== undefined && number >= least && number <= most ? number : undefined;
    },
    wanted: `a whole number from ${least} to ${grouped(most)}, such as ${example}`,
    json: 'integer',
    range: [least, most],
  };
}

/** One of a few words. */
export function choice<const T extends string>(...choices: readonly T[]): Kind<T> {
  return { parse: (text) => choices.find((one) => one === text), wanted: orList(choices), choices };
}
