// Undoes the encodings of a text. A login page may percent-encode the requested URL twice, or put it into base64 and
// encode that again, and a secret in the result is still the secret. `decodings` yields a text in each decoded form,
// each with a function that maps a span of it to a span of the original text.
import { fromBase64, MAY_HAVE_BASE64 } from './base64.ts';
import { withoutEscapes } from './escapes.ts';

/** A range of UTF-16 units of a text. */
export type Span = readonly [start: number, end: number];

export interface Decoding {
  /** A character decoded from base64 is one byte, and U+FFFF separates two runs. */
  readonly text: string;
  readonly isFromBase64: boolean;
  /** True if decoding stopped at its limit of work, so that the contents of this form are unknown. */
  readonly isUnread: boolean;
  /** Returns the span of the original text that holds any bit of a span of this one. */
  readonly origin: (span: Span) => Span;
}

/** Nested base64 of any depth decodes to three times its length in total; a hostile text may decode to more. */
const MAX_GROWTH = 4;
const MIN_ALLOWANCE = 16_384;

/** Yields the text itself first. The work is in proportion to the length of the text. */
export function* decodings(text: string): Generator<Decoding> {
  let allowance = MAX_GROWTH * text.length + MIN_ALLOWANCE;
  const pending = [asDecoding(text)];
  // Two forms often hold the same run of base64, because only text outside it differs.
  const seen = new Set<string>();
  for (let from = pending.pop(); from; from = pending.pop()) {
    const forms = withoutEscapes(from);
    yield* forms;
    // The last form comes first, because the padding of base64 is no longer escaped in it.
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

/** Returns the text as it is, and with each layer of escapes undone. */
export function unescapedForms(text: string): readonly string[] {
  return withoutEscapes(asDecoding(text)).map((form) => form.text);
}

function asDecoding(text: string): Decoding {
  return { text, isFromBase64: false, isUnread: false, origin: (span) => span };
}
