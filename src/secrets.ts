export const REDACTED = '[redacted]';
/** A shorter secret is found by its place alone: by its value it would black out ordinary words. */
const SHORTEST = 8;
/** Of a beginning that a cut has left, so many characters are telling. */
const TELLING = 4;
/** Bounds the work. */
const MOST_CUTS = 20;

/** Where the service takes a key in a URL (contract part 5), and where any URL has a user and a password. */
const PLACES = [
  /(?<=[?&;]apikey=)[^&#\s"'<>\p{Cc}]+/giu,
  /(?<=\/APIKEY-)[^/?#\s"'<>\p{Cc}]+/giu,
  /(?<=:\/\/)[^/?#\s"'<>\p{Cc}@]+(?=@)/gu,
];

interface Form {
  readonly text: string;
  /** Characters on either side that hold some bits of it, too, as base64 has them. */
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

/** UTF-16 units of a text. */
type Span = readonly [start: number, end: number];

/**
 * The secrets that this run has met, so that no diagnostic shows one. By its place in a URL a secret is found whatever
 * its length; by its value, from {@link SHORTEST} characters on, as it is, percent-encoded and in base64. Data is not
 * redacted.
 */
export class Secrets {
  readonly #known = new Map<string, readonly Form[]>();
  #forms: readonly Form[] = [];

  add(secret: string | Buffer): void {
    const text = secret.toString();
    const bytes = Buffer.from(secret as string);
    if (text.length < SHORTEST || this.#known.has(text)) return;
    this.#known.set(text, formsOf(text, bytes));
    this.#forms = [...this.#known.values()].flat();
  }

  /** A run of hours mints many tokens. */
  forget(secret: string): void {
    this.#known.delete(secret);
    this.#forms = [...this.#known.values()].flat();
  }

  /** Whether a secret is in the text by its value; what others have in the place of one is not ours. */
  holds(text: string): boolean {
    const texts = [text, percentDecoded(text).text];
    return this.#forms.some((form) => texts.some((each) => each.includes(form.text)));
  }

  /** What precedes an ellipsis was cut, perhaps in the middle of a secret: its beginning goes, too. */
  redact(text: string): string {
    const { text: decoded, at } = percentDecoded(text);
    const spans = spansOf(this.#forms, text);
    if (decoded !== text)
      for (const [start, end] of spansOf(this.#forms, decoded)) spans.push([at[start] ?? 0, at[end] ?? 0]);
    return masked(text, spans);
  }
}

function formsOf(secret: string, bytes: Buffer): readonly Form[] {
  // As it is, in quotes, and as percent-decoding gives its bytes.
  const plain = new Set([secret, JSON.stringify(secret).slice(1, -1), bytes.toString('latin1')]);
  const forms = [...[...plain].map((text) => ({ text, before: 0, after: 0 }) as const), ...base64Forms(bytes)];
  return forms.filter(({ text }) => text.length >= SHORTEST);
}

/** Wherever in a longer text it begins, the characters that depend on it alone; in both alphabets (RFC 4648). */
function base64Forms(bytes: Buffer): Form[] {
  return [0, 1, 2].flatMap((offset) => {
    const [before, after] = [offset === 0 ? 0 : 1, (offset + bytes.length) % 3 === 0 ? 0 : 1] as const;
    const coded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64url');
    const text = coded.slice(offset + before, coded.length - after);
    const texts = new Set([text, text.replaceAll('-', '+').replaceAll('_', '/')]);
    return [...texts].map((each) => ({ text: each, before, after }));
  });
}

/** A text with `%XX` undone, a character a byte; and where in the text each of its characters began. */
function percentDecoded(text: string): { readonly text: string; readonly at: readonly number[] } {
  if (!text.includes('%')) return { text, at: [] };
  let decoded = '';
  const at: number[] = [];
  for (const { 0: unit, index } of text.matchAll(/%[\da-f]{2}|./gis)) {
    decoded += unit.length === 3 ? String.fromCharCode(Number.parseInt(unit.slice(1), 16)) : unit;
    at.push(index);
  }
  return { text: decoded, at: [...at, text.length] };
}

function spansOf(forms: readonly Form[], text: string): Span[] {
  const cuts = [...text.matchAll(/(?:%[\da-f]?)?…/gi)].map(({ index }) => index).slice(-MOST_CUTS);
  const places = PLACES.flatMap((place) => [...text.matchAll(place)]);
  return [
    ...places.map(({ 0: { length }, index }): Span => [index, index + length]),
    ...forms.flatMap((form) => [...wholeIn(text, form)]),
    ...forms.flatMap((form) => cuts.map((cut) => beginningAt(cut, text, form.text))),
  ].filter((span) => span !== undefined);
}

function* wholeIn(text: string, form: Form): Generator<Span> {
  for (let at = text.indexOf(form.text); at >= 0; at = text.indexOf(form.text, at + 1)) {
    let end = Math.min(at + form.text.length + form.after, text.length);
    if (form.after > 0) while (text[end] === '=') end += 1;
    yield [Math.max(0, at - form.before), end];
  }
}

/** What a cut has left of a form that began before it. */
function beginningAt(cut: number, text: string, form: string): Span | undefined {
  for (let length = Math.min(form.length, cut); length >= TELLING; length -= 1) {
    if (text.startsWith(form.slice(0, length), cut - length)) return [cut - length, cut];
  }
  return undefined;
}

function masked(text: string, spans: readonly Span[]): string {
  let shown = '';
  let done = 0;
  for (const [start, end] of [...spans].sort(([a], [b]) => a - b)) {
    if (end <= done) continue;
    if (start > done || done === 0) shown += text.slice(done, start) + REDACTED;
    done = end;
  }
  return shown + text.slice(done);
}

/** A copy of JSON data in which no string, number or member name holds a secret. */
export function redacted(value: unknown, secrets: Secrets): unknown {
  if (typeof value === 'string') return secrets.redact(value);
  if (typeof value === 'number') return secrets.holds(`${value}`) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redacted(item, secrets));
  // fromEntries makes own members: one called `__proto__` stays data.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [secrets.redact(name), redacted(member, secrets)]),
  );
}
