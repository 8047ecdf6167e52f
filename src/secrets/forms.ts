import { folded, readingsOf } from './decodings.ts';

/** A way in which a secret may stand in a reading of a text. */
export interface Form {
  readonly text: string;
  /** Characters beside it that hold some bits of it too, as base64 has them. */
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

/** A shorter one is found by its place alone: by its value it would black out ordinary words. */
export const SHORTEST = 8;

interface Coding {
  readonly digits: string;
  /** Bits a digit. */
  readonly width: number;
  /** How many bits of the first byte may belong to the digit before, wherever in a longer text the secret begins. */
  readonly skips: readonly number[];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** Folded, so that base64url is base64 (RFC 4648). */
const CODINGS: readonly Coding[] = [
  { digits: '0123456789abcdef', width: 4, skips: [0] },
  { digits: `${LETTERS}234567`, width: 5, skips: [0, 1, 2, 3, 4] },
  { digits: `${LETTERS}${LETTERS}0123456789+/`, width: 6, skips: [0, 2, 4] },
];

/** Every form of a secret that is looked for; none for one that is too short. */
export function formsOf(secret: string): readonly Form[] {
  const forms = partsOf(secret)
    .filter((part) => part.length >= SHORTEST)
    .flatMap((part) => [...plainForms(part), ...spellings(part).flatMap(encodedForms)]);
  return [...new Map(forms.map((form) => [form.text, form])).values()];
}

/** Of a JWT, what can't be guessed is a secret by itself; its header can (RFC 7515 section 3.1). */
function partsOf(secret: string): readonly string[] {
  const [, payload, signature] = /^[\w-]+\.([\w-]+)\.([\w-]+)$/.exec(secret) ?? [];
  return payload === undefined || signature === undefined ? [secret] : [secret, payload, signature];
}

/** As it is; with what looks like an escape in it undone, as it is in the text too; as a form field. */
function plainForms(secret: string): Form[] {
  const texts = [...readingsOf(secret)].map(({ text }) => text);
  return [texts[0] ?? '', texts.at(-1) ?? '', (texts[0] ?? '').replaceAll(' ', '+')]
    .filter((text) => text.length >= SHORTEST)
    .map((text) => ({ text, before: 0, after: 0 }));
}

/** How it may be written before it is encoded. */
function spellings(secret: string): Buffer[] {
  const text = Buffer.from(secret).toString();
  const spelled = new Set([text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]);
  return [...spelled].map((spelling) => Buffer.from(spelling));
}

function encodedForms(bytes: Buffer): Form[] {
  return CODINGS.flatMap((coding) => coding.skips.map((skip) => encoded(bytes, coding, skip)));
}

/** The digits that depend on these bytes alone. Into one buffer: a secret may be a file of a megabyte. */
function encoded(bytes: Buffer, { digits, width }: Coding, skip: number): Form {
  const mask = (1 << width) - 1;
  const text = Buffer.alloc(Math.ceil((bytes.length * 8) / width));
  let length = 0;
  let bits = -skip;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    for (bits += 8; bits >= width; length += 1) {
      bits -= width;
      text[length] = digits.charCodeAt((held >> bits) & mask);
    }
  }
  return {
    text: folded(text.subarray(0, length)),
    before: skip === 0 ? 0 : 1,
    after: bits === 0 ? 0 : 1,
  };
}
