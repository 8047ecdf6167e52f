import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

// What a text can mean. Every parser here is pure: undefined when the text is not of the form.

export const DURATION_FORM = /^(\d{1,15}(?:\.\d{1,9})?)(ms|s|m|h|d)$/;
export const RATE_FORM = /^(\d{1,15}(?:\.\d{1,9})?)\/([sm])$/;
const SIZE = /^(\d{1,16}(?:\.\d{1,9})?) ?([kmgtp]i?)?b?$/i;
/** RFC 3339 section 5.6; the offset may not be left out. */
const TIMESTAMP =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ]([01]\d|2[0-3]):(\d\d):(\d\d)(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SIZE_PREFIXES = 'kmgtp';
/** The largest time that a Date can hold, in milliseconds since the epoch. */
const LAST_TIME = 8.64e15;

/** `500ms`, `30s`, `5m`, `2h`, `1d`, also with a fraction: milliseconds. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION_FORM.exec(text);
  if (match === null) return undefined;
  const milliseconds = Number(match[1]) * MILLISECONDS[match[2] as keyof typeof MILLISECONDS];
  return milliseconds <= LAST_TIME ? Math.round(milliseconds) : undefined;
}

/** A duration that is more than nothing. */
export function parseTimeout(text: string): number | undefined {
  return parseDuration(text) || undefined;
}

/** A whole number, nothing else around it. */
export function parseCount(text: string): number | undefined {
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(count) ? count : undefined;
}

/** `10/s`, `90/m`: how many a second, more than none. */
export function parseRate(text: string): number | undefined {
  const match = RATE_FORM.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) / (match[2] === 's' ? 1 : 60) || undefined;
}

/** `500000`, `200k`, `1.5MB`, `1GiB`: bytes; units are decimal, those with an `i` binary. */
export function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text);
  if (match === null) return undefined;
  const unit = match[2]?.toLowerCase();
  const base = unit?.endsWith('i') ? 1024 : 1000;
  const bytes = Number(match[1]) * base ** (unit === undefined ? 0 : SIZE_PREFIXES.indexOf(unit.charAt(0)) + 1);
  return bytes <= Number.MAX_SAFE_INTEGER ? Math.round(bytes) : undefined;
}

/** `1` or `true`, `0` or `false`. */
export function parseSwitch(text: string): boolean | undefined {
  if (text === '1' || text === 'true') return true;
  return text === '0' || text === 'false' ? false : undefined;
}

/** RFC 3339, or whole seconds since the epoch: milliseconds since the epoch. */
export function parseTime(text: string): number | undefined {
  if (/^\d{1,13}$/.test(text)) return inRange(Number(text) * 1_000);
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hours, minutes, seconds, fraction = '', zone = 'Z'] = match;
  if (Number(day) > daysOf(Number(year), Number(month))) return undefined;
  // A leap second is the first of the next minute to a clock that does not know it.
  const leap = seconds === '60' ? 1_000 : 0;
  const second = leap > 0 ? '59' : seconds;
  const time = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${second}${fraction}${zone.toUpperCase()}`);
  return inRange(time + leap);
}

function inRange(time: number): number | undefined {
  return Math.abs(time) <= LAST_TIME ? time : undefined;
}

function daysOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Where a text came from: `--jobs`, `FILINGS_JOBS`, `config.json: profiles.work.jobs`; with the code of its errors. */
export interface ValueSource {
  readonly name: string;
  readonly code: 'usage' | 'config';
}

/** `a, b or c`. */
export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const LONGEST_SHOWN = 40;

/** The error about a value; `text` is shown, shortened: leave it out where it may be a secret. */
export function valueError(source: string | ValueSource, fault: string, text?: string, hint?: string): FilingsError {
  const { name, code } = typeof source === 'string' ? { name: source, code: 'usage' as const } : source;
  const seen = text === undefined ? '' : text === '' ? ', and is empty' : `, not '${shortened(text, LONGEST_SHOWN)}'`;
  return new FilingsError(code, `${name}: ${fault}${seen}`, hint === undefined ? {} : { hint });
}
