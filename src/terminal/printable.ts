import { shortened } from '../text.ts';

/**
 * Characters that a terminal would obey, reorder or not show: C0, C1, DEL, format characters (bidirectional controls,
 * zero-width characters, tags), line and paragraph separators, lone surrogates, invisible fillers.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Returns foreign text as one line in which every unseen character is escaped (`\x1b`, `\n`, `\u202e`), shortened to
 * `maxLength` UTF-16 units.
 */
export function printable(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  return shortened(text.replace(UNSEEN, escaped), maxLength);
}

/** Returns a value as one line of JSON in which every unseen character is escaped. The value stays the same. */
export function printableJson(value: unknown): string {
  return visible(JSON.stringify(value));
}

/** Returns a JSON text as {@link printableJson} does, but keeps numbers as they are written: 9007199254740993, 1.0. */
export function printableJsonText(json: string): string {
  return visible(json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.startsWith('"') ? part : '')));
}

function visible(json: string): string {
  return json.replace(UNSEEN, (character) => character.split('').map(unicode).join(''));
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point > 0xffff) return `\\u{${point.toString(16)}}`;
  if (point > 0xff) return unicode(character);
  return SHORT[character] ?? `\\x${hex(point, 2)}`;
}

function unicode(unit: string): string {
  return `\\u${hex(unit.charCodeAt(0), 4)}`;
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}
