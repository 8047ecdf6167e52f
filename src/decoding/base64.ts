// Decodes base64, also inside a longer run of the same characters, as in a path.
import { isCutAt } from './cuts.ts';
import type { Decoding, Span } from './decodings.ts';

/** A noncharacter, which no text holds. */
const GAP = '\uffff';
/** The length of the shortest secret that is found by its value. */
const MIN_BYTES = 8;
/** The number of bytes before an ellipsis that are taken for the start of a secret. */
const MIN_CUT_BYTES = 3;
/**
 * A byte of ASCII begins with a zero bit. So in the base64 of ASCII text each character that begins a group of four is
 * one of the first 32 of the alphabet.
 */
export const MAY_HAVE_BASE64 = /[A-Za-f][\w+/-]{3}[A-Za-f][\w+/-]{2}|[\w+/-]{4}[^ ]{0,7}…/;
/** The control characters of text: NUL (every second byte of ASCII in UTF-16), tab and line breaks. */
const TEXT_CONTROLS = [0x00, 0x09, 0x0a, 0x0d];

const NO_SEXTET = 64;
/** The six bits of each character code, for both alphabets (RFC 4648, sections 4 and 5). */
const SEXTETS = new Uint8Array(128).fill(NO_SEXTET);
for (const alphabet of ['+/', '-_']) {
  const characters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (let value = 0; value < 64; value += 1) SEXTETS[characters.charCodeAt(value)] = value;
}

/** A stretch of text in a run of base64. */
interface Stretch {
  /** The index of the first group of four characters of the run. */
  readonly base: number;
  /** The number of the stretch's first byte, counted from `base`. */
  readonly firstByte: number;
  readonly size: number;
  /** The index after its last character. */
  readonly end: number;
}

/** Decodes the text in runs of base64 whose groups of four begin `skip` characters after the start of the run. */
export function fromBase64(from: Decoding, skip: number): Decoding {
  const { text } = from;
  const stretches = textStretches(text, skip);
  const starts: number[] = [];
  const pieces: string[] = [];
  let length = 0;
  for (const { base, firstByte, size, end } of stretches) {
    const group = base + 4 * Math.floor(firstByte / 3);
    const bytes = Buffer.from(text.slice(group, end), 'base64');
    const skipped = firstByte % 3;
    starts.push(length);
    pieces.push(bytes.toString('latin1', skipped, skipped + size), isCutAt(text, end) ? '…' : GAP);
    length += size + 1;
  }
  // The bits of byte N are in the characters from 4/3 N on.
  const positionOf = (at: number, more: number) => {
    const index = lastAtMost(starts, at);
    const { base, firstByte } = stretches[index] as Stretch;
    return [base, (4 * (firstByte + at - (starts[index] as number) + more)) / 3] as const;
  };
  const origin = ([start, end]: Span) => {
    const [base, first] = positionOf(start, 0);
    const [lastBase, last] = positionOf(end - 1, 1);
    let lastEnd = lastBase + Math.ceil(last);
    while (text[lastEnd] === '=') lastEnd += 1;
    return from.origin([base + Math.floor(first), lastEnd]);
  };
  return { text: pieces.join(''), isFromBase64: true, isUnread: false, origin };
}

function textStretches(text: string, skip: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let base = skip;
  let byte = 0;
  let size = 0;
  let bits = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const sextet = code < 128 ? (SEXTETS[code] as number) : NO_SEXTET;
    if (sextet !== NO_SEXTET) {
      bits = (bits << 6) | sextet;
      const inGroup = (at - base) & 3;
      if (inGroup === 0 || at < base) continue;
      byte += 1;
      if (isTextByte((bits >> (6 - 2 * inGroup)) & 0xff)) size += 1;
      else {
        if (size >= MIN_BYTES) stretches.push({ base, firstByte: byte - 1 - size, size, end: at });
        size = 0;
      }
      continue;
    }
    if (size >= MIN_BYTES || (size >= MIN_CUT_BYTES && isCutAt(text, at)))
      stretches.push({ base, firstByte: byte - size, size, end: at });
    size = 0;
    base = at + 1 + skip;
    byte = 0;
  }
  return stretches;
}

/** Returns the index of the last number that is at most `most`. The numbers are sorted. */
function lastAtMost(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] as number) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isTextByte(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || TEXT_CONTROLS.includes(byte);
}
