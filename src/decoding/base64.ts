// Decodes base64, also in the middle of a text of the same characters, as in a path.
import { isCutAt } from './cuts.ts';
import type { Decoding, Span } from './decodings.ts';

/** A noncharacter, which no text holds. */
const GAP = '\uffff';
/** The shortest secret that is found by its value. */
const MIN_BYTES = 8;
/** In front of an ellipsis, so many bytes tell the start of a secret. */
const MIN_CUT_BYTES = 3;
/** A byte of ASCII begins with a zero: so do, at a distance of four, two characters that hold eight bytes of it. */
export const MAY_HAVE_BASE64 = /[A-Za-f][\w+/-]{3}[A-Za-f][\w+/-]{2}|[\w+/-]{4}[^ ]{0,7}…/;
/** NUL, which is every second byte of UTF-16, tab and line breaks. */
const TEXT_CONTROLS = [0x00, 0x09, 0x0a, 0x0d];

const NO_SEXTET = 64;
/** By the code of a character, in both alphabets (RFC 4648 sections 4 and 5). */
const SEXTETS = new Uint8Array(128).fill(NO_SEXTET);
for (const alphabet of ['+/', '-_']) {
  const characters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (let value = 0; value < 64; value += 1) SEXTETS[characters.charCodeAt(value)] = value;
}

/** A stretch of text in a run of base64. */
interface Stretch {
  /** Where the group of four characters begins that holds the run's first byte. */
  readonly base: number;
  /** Counted from there. */
  readonly firstByte: number;
  readonly size: number;
  /** The place behind its last character. */
  readonly end: number;
}

/** Decodes what is text in runs of base64 whose groups of four begin `skip` characters behind the start of the run. */
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
  // A byte has bits of two characters, which begin at four thirds of its number.
  const placeOf = (at: number, more: number) => {
    const index = lastAtMost(starts, at);
    const { base, firstByte } = stretches[index] as Stretch;
    return [base, (4 * (firstByte + at - (starts[index] as number) + more)) / 3] as const;
  };
  const origin = ([start, end]: Span) => {
    const [base, first] = placeOf(start, 0);
    const [lastBase, last] = placeOf(end - 1, 1);
    let behind = lastBase + Math.ceil(last);
    while (text[behind] === '=') behind += 1;
    return from.origin([base + Math.floor(first), behind]);
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

/** Returns the index of the last number that is not greater; the numbers are in order. */
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
