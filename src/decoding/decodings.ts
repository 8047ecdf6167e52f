// What a text says when its encodings are undone. A login page may percent-encode the URL that it was asked for twice,
// or put it into base64 and encode that again: a secret in it is still the secret. `decodings` takes a text and gives
// it in each of these forms, with the way back to the characters that a form was made of.
import { fromBase64, MAY_HAVE_BASE64 } from './base64.ts';
import { withoutEscapes } from './escapes.ts';

/** UTF-16 units of a text. */
export type Span = readonly [start: number, end: number];

export interface Decoding {
  /** In base64 a character was a byte, and U+FFFF stands between two runs. */
  readonly text: string;
  readonly isFromBase64: boolean;
  /** The work that a text of this length may cause is done; what this form may hold is not known. */
  readonly isUnread: boolean;
  /** Returns the span of the original text that holds any bit of a span of this one. */
  readonly origin: (span: Span) => Span;
}

/** Base64 of base64 without end decodes to three times its length; a text may be made to decode to more. */
const MAX_GROWTH = 4;
const MIN_ALLOWANCE = 16_384;

/** Yields the text itself first. The work is in proportion to the length of the text, whatever it holds. */
export function* decodings(text: string): Generator<Decoding> {
  let allowance = MAX_GROWTH * text.length + MIN_ALLOWANCE;
  const pending = [asDecoding(text)];
  // Escapes outside a run of base64 change nothing in it.
  const seen = new Set<string>();
  for (let from = pending.pop(); from; from = pending.pop()) {
    const forms = withoutEscapes(from);
    yield* forms;
    // The last one first: in it the padding of base64 is not escaped.
    for (const form of forms.reverse()) {
      if (!MAY_HAVE_BASE64.test(form.text)) continue;
      for (let skip = 0; skip < 4; skip += 1) {
        const inner = fromBase64(form, skip);
        if (inner.text === '' || seen.has(inner.text)) continue;
        seen.add(inner.text);
        allowance -= inner.text.length;
        if (allowance < 0) yield { ...inner, isUnread: true };
        else pending.push(inner);
      }
    }
  }
}

/** Returns the text as it is, and with each layer of what looks like escapes in it undone. */
export function unescapedForms(text: string): readonly string[] {
  return withoutEscapes(asDecoding(text)).map((form) => form.text);
}

function asDecoding(text: string): Decoding {
  return { text, isFromBase64: false, isUnread: false, origin: (span) => span };
}
