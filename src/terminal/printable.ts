// A file name or a message of the service could move the cursor, change what is on the screen, or look like another
// name. The program calls escaped text printable.
import { INVISIBLE, shortened } from '../text.ts';

const UNSAFE_ON_TERMINAL = new RegExp(INVISIBLE, 'gu');

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Escapes first, then shortens to `maxLength` UTF-16 units. A backslash in the text stays as it is, because the result
 * need not be converted back.
 */
export function printable(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  return shortened(text.replace(UNSAFE_ON_TERMINAL, escapeCharacter), maxLength);
}

/** The line parses to the same value. */
export function printableJson(value: unknown): string {
  return escapeJson(JSON.stringify(value));
}

/** Takes a value that is JSON already. Numbers stay as they are written, such as 9007199254740993 and 1.0. */
export function printableJsonSource(source: string): string {
  return escapeJson(source.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (match) => (match.startsWith('"') ? match : '')));
}

/** JSON has escapes for UTF-16 units only, so a surrogate pair becomes two escapes. */
function escapeJson(json: string): string {
  return json.replace(UNSAFE_ON_TERMINAL, (character) => character.split('').map(escapeUnit).join(''));
}

function escapeCharacter(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point > 0xffff) return `\\u{${point.toString(16)}}`;
  if (point > 0xff) return escapeUnit(character);
  return SHORT_ESCAPES[character] ?? `\\x${hex(point, 2)}`;
}

function escapeUnit(unit: string): string {
  return `\\u${hex(unit.charCodeAt(0), 4)}`;
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}
