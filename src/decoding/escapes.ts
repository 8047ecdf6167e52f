// Undoes the escapes of URLs, JSON and HTML.
import type { Decoding } from './decodings.ts';

const [TAB, LINE_FEED, CARRIAGE_RETURN, DELETE] = [0x09, 0x0a, 0x0d, 0x7f];
const [QUOTE, PERCENT, AMPERSAND, APOSTROPHE, SLASH, SEMICOLON, BACKSLASH] = [0x22, 0x25, 0x26, 0x27, 0x2f, 0x3b, 0x5c];
const [LETTER_N, LETTER_R, LETTER_T, LETTER_U] = [0x6e, 0x72, 0x74, 0x75];
/** The length of `&#x002f;`. */
const MAX_ESCAPE = 8;
/** The number of layers that are undone one at a time. Further layers of percent-encoding are undone together. */
const MAX_LAYERS = 4;
const MAY_HAVE_ESCAPES = /%[\da-f]{2}|\\.|&#?\w{1,5};|\p{Cc}/iu;
const PUNCTUATION = new Map([
  ...[QUOTE, APOSTROPHE, SLASH, BACKSLASH].map((code) => [code, code] as const),
  ...([
    [LETTER_N, LINE_FEED],
    [LETTER_R, CARRIAGE_RETURN],
    [LETTER_T, TAB],
  ] as const),
]);
const ENTITIES = new Map([
  ['amp', AMPERSAND],
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['quot', QUOTE],
  ['apos', APOSTROPHE],
]);

/** Returns the text as it is, with one layer of escapes undone, with two, and so on. */
export function withoutEscapes(from: Decoding): Decoding[] {
  const forms = [from];
  let last = from;
  // Undoes one layer at a time, because an escaped percent sign and the start of a secret may look like an escape.
  for (let layer = 1; layer <= MAX_LAYERS + 1 && MAY_HAVE_ESCAPES.test(last.text); layer += 1) {
    const next = layer <= MAX_LAYERS ? withoutLayer(last) : percentDecoded(last);
    if (next.text === last.text) break;
    forms.push(next);
    last = next;
  }
  return forms;
}

/** Builds a text character by character, each with its range in the text before. */
class Writer {
  readonly codes: Uint16Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  length = 0;

  constructor(size: number) {
    this.codes = new Uint16Array(size);
    this.starts = new Uint32Array(size);
    this.ends = new Uint32Array(size);
  }

  push(code: number, start: number, end: number): void {
    this.codes[this.length] = code;
    this.starts[this.length] = start;
    this.ends[this.length] = end;
    this.length += 1;
  }

  get endsInControl(): boolean {
    const last = this.codes[this.length - 1] as number;
    return last < 0x20 || last === DELETE;
  }

  /** Removes the last character. A NUL becomes part of the character before it, as in UTF-16. */
  dropLast(): void {
    this.length -= 1;
    if (this.length > 0 && this.codes[this.length] === 0) this.ends[this.length - 1] = this.ends[this.length] as number;
  }

  done(from: Decoding): Decoding {
    const { codes, starts, ends, length } = this;
    return {
      text: Buffer.from(codes.buffer, 0, 2 * length).toString('utf16le'),
      isFromBase64: from.isFromBase64,
      isUnread: false,
      origin: ([start, end]) => from.origin([starts[start] ?? 0, ends[end - 1] ?? 0]),
    };
  }
}

/**
 * Undoes one layer of escapes. Leaves out control characters: they break lines of base64, and are every second byte of
 * UTF-16.
 */
function withoutLayer(from: Decoding): Decoding {
  const writer = new Writer(from.text.length);
  // Characters before this index cannot be part of an escape any more.
  let settled = 0;
  for (let at = 0; at < from.text.length; at += 1) {
    writer.push(from.text.charCodeAt(at), at, at + 1);
    if (writer.endsInControl) writer.dropLast();
    else if (undoEscape(writer, settled, at + 1)) settled = writer.length;
  }
  return writer.done(from);
}

/** Undoes all layers of percent-encoding. Leaves out control characters. */
function percentDecoded(from: Decoding): Decoding {
  const writer = new Writer(from.text.length);
  for (let at = 0; at < from.text.length; at += 1) {
    writer.push(from.text.charCodeAt(at), at, at + 1);
    while (writer.codes[writer.length - 3] === PERCENT && undoEscape(writer, writer.length - 3, at + 1));
    if (writer.endsInControl) writer.dropLast();
  }
  return writer.done(from);
}

/** Replaces an escape that ends here by its character. Returns whether there was one. */
function undoEscape(writer: Writer, from: number, end: number): boolean {
  const { codes, starts, length } = writer;
  const first = Math.max(from, length - MAX_ESCAPE);
  for (let start = length - 2; start >= first; start -= 1) {
    if (codes[start] !== PERCENT && codes[start] !== BACKSLASH && codes[start] !== AMPERSAND) continue;
    const code = meaningOf(codes, start, length);
    if (code === undefined) return false;
    writer.length = start;
    writer.push(code, starts[start] as number, end);
    return true;
  }
  return false;
}

function meaningOf(codes: Uint16Array, start: number, end: number): number | undefined {
  const [opening, second, last] = [codes[start], codes[start + 1], codes[end - 1] as number];
  const size = end - start;
  if (opening === AMPERSAND)
    return last === SEMICOLON ? entity(String.fromCharCode(...codes.subarray(start + 1, end - 1))) : undefined;
  if (size === 6 && second === LETTER_U) return hexadecimal(codes, start + 2, end);
  if (opening === PERCENT) return size === 3 ? hexadecimal(codes, start + 1, end) : undefined;
  return size === 2 ? PUNCTUATION.get(last) : undefined;
}

function entity(name: string): number | undefined {
  const [, hex, decimal] = /^#(?:x([\da-f]{1,4})|(\d{1,4}))$/i.exec(name) ?? [];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  return decimal === undefined ? ENTITIES.get(name) : Number(decimal);
}

function hexadecimal(codes: Uint16Array, start: number, end: number): number | undefined {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const code = codes[at] as number;
    const digit = code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57;
    if (digit < 0 || digit > 15 || (code > 0x39 && digit < 10)) return undefined;
    value = value * 16 + digit;
  }
  return value;
}
