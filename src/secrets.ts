// All secrets that a run has read. Diagnostics are redacted with them, and a redirect whose URL holds one is refused.
import { lastCuts } from './decoding/cuts.ts';
import { type Decoding, decodings, type Span, unescapedForms } from './decoding/decodings.ts';

export const REDACTED = '[redacted]';
/** Shorter secrets are redacted only in known URL positions, because their value may be an ordinary word. */
const MIN_LENGTH = 8;
/** The number of characters before a cut that are taken for the start of a secret. */
const MIN_START = 4;
/** The same number for text decoded from base64, where 3 bytes were 4 characters. */
const MIN_DECODED_START = 3;
/** The most cuts that are searched. It bounds the work. */
const MAX_CUTS = 20;

/** The positions of a key in a URL (service.md, section 5), and the position of user and password in any URL. */
const SECRET_POSITIONS = [
  /(?<=[?&;]apikey=)[^&#\s"<>\uffff\p{Cc}]+/giu,
  /(?<=\/APIKEY-)[^/?#\s"<>\uffff\p{Cc}]+/giu,
  /(?<=:\/\/)[^/?#\s"<>\uffff\p{Cc}]+(?=@)/gu,
];

/** A text in which a secret may be found. */
interface Form {
  readonly text: string;
  /** Base64 is compared exactly, other forms without regard to case, because a URL may change the case. */
  readonly isBase64: boolean;
  /** The number of characters on either side that hold some bits of the secret, as in base64. */
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

/**
 * Finds secrets in texts. A secret of any length is found in known URL positions. From {@link MIN_LENGTH} characters on
 * it is also found anywhere else, as it is and in every encoding that `decodings` undoes.
 */
export class Secrets {
  readonly #known = new Map<string, readonly Form[]>();
  #forms: readonly Form[] = [];

  add(secret: string | Buffer): void {
    const text = secret.toString();
    const bytes = Buffer.from(secret as string);
    if (text.length < MIN_LENGTH || this.#known.has(text)) return;
    this.#known.set(text, formsOf(text, bytes));
    this.#forms = [...this.#known.values()].flat();
  }

  /** Forgets a secret. A run of many hours mints many tokens, and expired ones need not be redacted. */
  forget(secret: string): void {
    this.#known.delete(secret);
    this.#forms = [...this.#known.values()].flat();
  }

  /** Returns whether the text holds a secret, or might: a text may be made so that decoding it would never end. */
  holds(text: string): boolean {
    if (this.#forms.length === 0) return false;
    for (const decoding of decodings(text)) {
      if (decoding.isUnread) return true;
      const folded = fold(decoding.text);
      if (this.#forms.some((form) => (form.isBase64 ? decoding.text : folded).includes(form.text))) return true;
    }
    return false;
  }

  /** Also redacts the start of a secret that truncation cut before an ellipsis. */
  redact(text: string): string {
    const spans: Span[] = [];
    for (const decoding of decodings(text)) {
      for (const span of spansIn(decoding, this.#forms)) spans.push(decoding.origin(span));
    }
    return spans.length === 0 ? text : masked(text, spans);
  }
}

/**
 * Returns whether a text holds, or might hold, one of these words in any encoding. A word that is only the start of a
 * longer word does not count.
 */
export function holdsWord(text: string, words: readonly string[]): boolean {
  const wanted = words.flatMap(unescapedForms).map(fold);
  for (const decoding of decodings(text)) {
    if (decoding.isUnread) return true;
    const folded = fold(decoding.text);
    for (const word of wanted) {
      for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + 1)) {
        if (!/[\w.~-]/.test(folded.charAt(at + word.length))) return true;
      }
    }
  }
  return false;
}

function formsOf(secret: string, bytes: Buffer): readonly Form[] {
  const written = [secret, bytes.toString('latin1'), bytes.toString('hex')];
  const plain = written.flatMap(unescapedForms).map(fold);
  const whole = { isBase64: false, before: 0, after: 0 } as const;
  const forms = [...[...new Set(plain)].map((text) => ({ ...whole, text })), ...base64Forms(bytes)];
  return forms.filter(({ text }) => text.length >= MIN_LENGTH);
}

/**
 * Returns base64 at all three alignments and in both alphabets (RFC 4648), reduced to the characters that depend on the
 * secret alone.
 */
function base64Forms(bytes: Buffer): Form[] {
  return [0, 1, 2].flatMap((offset) => {
    const [before, after] = [offset === 0 ? 0 : 1, (offset + bytes.length) % 3 === 0 ? 0 : 1] as const;
    const coded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64url');
    const text = coded.slice(offset + before, coded.length - after);
    const texts = new Set([text, text.replaceAll('-', '+').replaceAll('_', '/')]);
    return [...texts].map((each) => ({ text: each, isBase64: true, before, after }));
  });
}

/**
 * Returns the text in lower case, because a host is written in it, and with spaces for plus signs, because a form
 * encodes a space as one. The length stays the same.
 */
function fold(text: string): string {
  const lower = text.toLowerCase();
  return (lower.length === text.length ? lower : text).replaceAll('+', ' ');
}

function* spansIn({ text, isFromBase64, isUnread }: Decoding, forms: readonly Form[]): Generator<Span> {
  if (isUnread) yield [0, text.length];
  for (const pattern of SECRET_POSITIONS)
    for (const { 0: value, index } of text.matchAll(pattern)) yield [index, index + value.length];
  if (forms.length === 0) return;
  const cuts = lastCuts(text, MAX_CUTS);
  const minStart = isFromBase64 ? MIN_DECODED_START : MIN_START;
  const folded = fold(text);
  for (const form of forms) {
    const searched = form.isBase64 ? text : folded;
    yield* wholeIn(searched, form);
    for (const cut of cuts) yield* startBefore(cut, searched, form.text, minStart);
  }
}

function* wholeIn(text: string, form: Form): Generator<Span> {
  for (let at = text.indexOf(form.text); at >= 0; at = text.indexOf(form.text, at + 1)) {
    let end = Math.min(at + form.text.length + form.after, text.length);
    if (form.after > 0) while (text[end] === '=') end += 1;
    yield [Math.max(0, at - form.before), end];
  }
}

/** Yields the span of the longest start of a form that ends at the cut. */
function* startBefore(cut: number, text: string, form: string, minStart: number): Generator<Span> {
  for (let length = Math.min(form.length, cut); length >= minStart; length -= 1) {
    if (!text.startsWith(form.slice(0, length), cut - length)) continue;
    yield [cut - length, cut];
    return;
  }
}

function masked(text: string, spans: readonly Span[]): string {
  let result = '';
  let done = 0;
  for (const [start, end] of [...spans].sort(([a], [b]) => a - b)) {
    if (end <= done) continue;
    if (start > done || done === 0) result += text.slice(done, start) + REDACTED;
    done = end;
  }
  return result + text.slice(done);
}

/** Returns a copy of JSON data in which no string, number or member name holds a secret. */
export function redacted(value: unknown, secrets: Secrets): unknown {
  if (typeof value === 'string') return secrets.redact(value);
  if (typeof value === 'number') return secrets.holds(`${value}`) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redacted(item, secrets));
  // fromEntries makes own members, so that a member called `__proto__` stays data.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [secrets.redact(name), redacted(member, secrets)]),
  );
}
