import { readingsOf } from './decodings.ts';
import { type Form, formsOf, SHORTEST } from './forms.ts';

/** What stands in the place of a secret. */
export const REDACTED = '[redacted]';
/** Forms are looked up by so many characters; of one that a cut has left the beginning of, so many are telling. */
const HEAD = 4;
/** When so much of a form is found, what follows is it as far as it goes: nobody may cut a token to show it. */
const TELLING = 64;

/** Where the service takes a key in a URL (contract part 5), and where any URL has a user and a password. Folded. */
const PLACES = [
  /(?<=[?&;]apikey=)[^&#\s"'<>\p{Cc}]+/gu,
  /(?<=\/apikey\+)[^/?#\s"'<>\p{Cc}]+/gu,
  /(?<=:\/\/)[^/?#\s"'<>\p{Cc}@]+(?=@)/gu,
];
/** The mark that a cut leaves, in UTF-8 or as three dots, perhaps behind the beginning of an escape. */
const CUT = /(?:%[0-9a-f]?|\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|&#?[0-9a-z]{0,8})?(\xe2\x80\xa6|\.{3})/y;

/** Bytes of the text as it stands. */
type Span = readonly [start: number, end: number];

/**
 * The secrets this run has met, so that nothing that is said has one in it. By its place in a URL a secret is found
 * whatever its length; by its value, from {@link SHORTEST} characters on, in every coding. Data is not redacted.
 */
export class Secrets {
  readonly #forms = new Map<string, readonly Form[]>();
  /** The forms by their heads; undefined when they have changed. */
  #heads: Heads | undefined;

  /** Remembers a secret; every text redacted from now on is clear of it. */
  add(secret: string): void {
    if (secret.length < SHORTEST || this.#forms.has(secret)) return;
    this.#forms.set(secret, formsOf(secret));
    this.#heads = undefined;
  }

  /** Forgets a secret that is of no use any more, such as a token long expired: a run of hours mints many. */
  forget(secret: string): void {
    if (this.#forms.delete(secret)) this.#heads = undefined;
  }

  /**
   * The text with every form of every secret replaced. What stands before an ellipsis was cut, perhaps in the middle
   * of a secret: its beginning goes too.
   */
  redact(text: string): string {
    this.#heads ??= byHead([...this.#forms.values()].flat());
    const spans: Span[] = [];
    for (const reading of readingsOf(text)) {
      for (const [start, end] of found(reading.text, this.#heads)) {
        spans.push([reading.at?.[start] ?? start, reading.at?.[end] ?? end]);
      }
    }
    return spans.length === 0 ? text : masked(text, spans);
  }
}

/** Forms by the codes of their first characters, packed into one number. */
type Heads = ReadonlyMap<number, readonly Form[]>;

function byHead(forms: readonly Form[]): Heads {
  const heads = new Map<number, Form[]>();
  for (const form of forms) {
    const head = Buffer.from(form.text, 'latin1').readInt32BE();
    heads.set(head, [...(heads.get(head) ?? []), form]);
  }
  return heads;
}

/** Where secrets stand in a text that is folded: in one go, however many there are. */
function* found(text: string, heads: Heads): Generator<Span> {
  for (const place of PLACES) {
    for (const { index, 0: value } of text.matchAll(place)) yield [index, index + value.length];
  }
  const passed = new Map<Form, number>();
  let head = 0;
  for (let index = 0; index < text.length; index += 1) {
    head = (head << 8) | text.charCodeAt(index);
    const start = index + 1 - HEAD;
    for (const form of heads.get(head) ?? []) {
      const end = start < (passed.get(form) ?? 0) ? undefined : endOf(form, text, start);
      if (end === undefined) continue;
      passed.set(form, end);
      yield [Math.max(0, start - form.before), end];
    }
  }
}

/** Where a form that begins at `start` ends: whole, or with a cut; undefined when it is not there. */
function endOf({ text: form, after }: Form, text: string, start: number): number | undefined {
  let end = start + HEAD;
  while (end < text.length && end - start < form.length && text[end] === form[end - start]) end += 1;
  if (end - start < Math.min(form.length, TELLING)) return cutAt(text, start + HEAD, end);
  end = Math.min(end + after, text.length);
  // Padding.
  if (after > 0) while (text[end] === '=') end += 1;
  return end;
}

/** The end of what a cut has left, if one stands there; its dots may have been taken for the form's. */
function cutAt(text: string, least: number, end: number): number | undefined {
  for (let at = end; at >= Math.max(least, end - 2); at -= 1) {
    CUT.lastIndex = at;
    const [left, mark = ''] = CUT.exec(text) ?? [];
    if (left !== undefined) return at + left.length - mark.length;
  }
  return undefined;
}

/** The text with a mark in the place of each run of spans. */
function masked(text: string, spans: readonly Span[]): string {
  const bytes = Buffer.from(text);
  let shown = '';
  let done = 0;
  let open = false;
  for (const [start, end] of [...spans].sort(([a], [b]) => a - b)) {
    if (end <= done) continue;
    if (start > done || !open) shown += bytes.toString('utf8', done, start) + REDACTED;
    open = true;
    done = end;
  }
  return shown + bytes.toString('utf8', done);
}
