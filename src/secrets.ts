// All secrets that a run has read. Text from elsewhere is redacted with them, and a redirect that holds one is refused.
// The program's own words are never redacted: a key `downloaded` must not change "3 downloaded". So whoever puts text
// from elsewhere into a message marks it with `foreign`, and whoever prints the message redacts the marked text only.

import { shortened } from './text.ts';

export const REDACTED = '[redacted]';
/** Shorter secrets are redacted only in known positions, because their value may be an ordinary word. */
const MIN_LENGTH = 8;

/** Marks text from elsewhere (the service, a proxy, the system) in a message. It is redacted when it is printed. */
export function foreign(text: string): string {
  // Unicode reserves these noncharacters for use inside a program.
  return `\ufdd0${unmarked(text)}\ufdd1`;
}

/** Returns a message as it came, with all secrets: only for code that does not print it. */
export function unmarked(message: string): string {
  return message.replace(/[\ufdd0\ufdd1]/g, '');
}

/** A percent sign that may itself be percent-encoded any number of times. */
const PERCENT = '%(?:25)*';
/** Characters that an encoder never leaves in a URL. It leaves an apostrophe, for example. */
const NEVER = '\\0-\\x20"<>';

/** The positions of a key in a URL (service.md, section 5), and the position of user and password in any URL. */
const IN_URL = [
  `(?<=[?&;/]apikey=)[^&#${NEVER}]+`,
  `(?<=${PERCENT}(?:3f|26)apikey${PERCENT}3d)(?:(?!${PERCENT}2[36])[^&#${NEVER}])+`,
  `(?<=/APIKEY-)[^/?#${NEVER}]+`,
  `(?<=${PERCENT}2fAPIKEY-)(?:(?!${PERCENT}(?:2f|3f|23))[^/?#${NEVER}])+`,
  `(?<=://)[^/?#${NEVER}]+(?=@)`,
  `(?<=${PERCENT}3a${PERCENT}2f${PERCENT}2f)(?:(?!${PERCENT}(?:2f|3f|23))[^/?#${NEVER}])+?(?=${PERCENT}40)`,
].join('|');
const KEYS_IN_URL = new RegExp(IN_URL, 'gi');

/** Returns a URL of our own without the key, whatever the key's length is. */
export function withoutKey(url: string): string {
  return url.replace(KEYS_IN_URL, REDACTED);
}

/** A form of a secret. At its ends, base64 has characters that also hold bits of the text around the secret. */
interface Needle {
  readonly text: string;
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

type Range = readonly [from: number, to: number];

/**
 * Finds secrets in text from elsewhere: of any length in the positions where this program or the service puts them, and
 * from {@link MIN_LENGTH} characters on anywhere, as they are, percent-encoded any number of times, and in base64.
 */
export class Secrets {
  /** The encoded forms of each secret, or none if it is too short. */
  readonly #needles = new Map<string, readonly Needle[]>();
  /** The names of fields, parameters and members of JSON that hold a key or a token. */
  readonly #names = new Set(['authorization', 'proxy-authorization', 'x-service-key', 'apikey']);
  #inPosition: RegExp | undefined;

  add(secret: string | Buffer): void {
    const bytes = bytesOf(secret);
    if (bytes === '' || this.#needles.has(bytes)) return;
    // The address that a login page puts into base64 has its key percent-encoded.
    const inBase64 = [
      ...base64Needles(bytes),
      ...base64Needles(encodeURIComponent(`${Buffer.from(secret as string)}`)),
    ];
    this.#needles.set(bytes, bytes.length < MIN_LENGTH ? [] : [needle(bytes), ...inBase64]);
  }

  /** Forgets a secret. A run of many hours mints many tokens, and expired ones need not be redacted. */
  forget(secret: string): void {
    this.#needles.delete(bytesOf(secret));
  }

  /** Adds the name of the field in which the key is sent. */
  addName(name: string): void {
    this.#names.add(name.toLowerCase());
    this.#inPosition = undefined;
  }

  /** Whether the field or the member of JSON with this name holds a key or a token. */
  isSecretName(name: string): boolean {
    return this.#names.has(name.toLowerCase());
  }

  /** Whether a text has a secret of this run: anywhere, or a short one in a position where `redact` would find it. */
  holds(text: string): boolean {
    if (this.#find(text).length > 0) return true;
    const secrets = [...this.#needles.keys()];
    const isSecret = (found: string, secret: string) => found === secret || found.endsWith(`:${secret}`);
    return (text.match(this.#positions()) ?? [])
      .map((each) => canonicalView(bytesOf(each)).text)
      .some((each) => secrets.some((secret) => isSecret(each, canonicalView(secret).text)));
  }

  /** Returns text from elsewhere without secrets. */
  redact(text: string): string {
    const bytes = Buffer.from(text);
    let [result, end] = ['', 0];
    for (const [from, to] of this.#find(text)) {
      if (end === 0 || from > end) result += bytes.toString('utf8', end, from) + REDACTED;
      end = Math.max(end, to);
    }
    return (result + bytes.toString('utf8', end)).replace(this.#positions(), REDACTED);
  }

  /** Returns a message without marks. The text from elsewhere has no secrets any more, and the rest is unchanged. */
  redactForeign(message: string): string {
    return message.replace(/\ufdd0([^\ufdd1]*)\ufdd1?/g, (_, text) => this.redact(text));
  }

  /** Returns where the text has a secret, in bytes and in order. */
  #find(text: string): readonly Range[] {
    const bytes = bytesOf(text);
    const view = canonicalView(bytes);
    const ranges: Range[] = [];
    for (const [secret, needles] of this.#needles) {
      // In the canonical view, a percent sign before a secret may have swallowed its beginning.
      if (needles.length > 0) for (const at of places(bytes, secret)) ranges.push([at, at + secret.length]);
      for (const { text, before, after } of needles) {
        for (const at of places(view.text, text)) {
          let end = at + text.length + after;
          while (after && view.text[end] === '=') end += 1;
          ranges.push([view.starts[at - before] ?? 0, view.starts[end] ?? bytes.length]);
        }
      }
    }
    return ranges.sort(([a], [b]) => a - b);
  }

  #positions(): RegExp {
    if (this.#inPosition) return this.#inPosition;
    const names = [...this.#names].map((name) => name.replace(/[$*+.^|]/g, '\\$&')).join('|');
    const scheme = '(?:basic|bearer) ';
    // As in a head (`Authorization: Basic KEY`) or in JSON, of which the quotes may be escaped.
    const quote = `(?:\\\\{0,3}["'])?`;
    const afterName = `(?<=(?<![\\w-])(?:${names})${quote} ?[:=] ?${quote}(?:${scheme})?)`;
    this.#inPosition = new RegExp(`${IN_URL}|${afterName}(?!${scheme}|[[{])(?:\\\\.|[^\\s"<>\\\\])+`, 'gi');
    return this.#inPosition;
  }
}

/** Returns the bytes of a text in UTF-8, one character for each. */
function bytesOf(text: string | Buffer): string {
  return Buffer.from(text as string).toString('latin1');
}

/** Returns all indexes at which a text has another. A very short one, as of backslashes alone, would be everywhere. */
function places(text: string, wanted: string): number[] {
  const found: number[] = [];
  if (wanted.length < MIN_LENGTH / 2) return found;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

function needle(text: string, before: 0 | 1 = 0, after: 0 | 1 = 0): Needle {
  return { text: canonicalView(text).text, before, after };
}

/** Returns the parts of base64 (RFC 4648) that a text has at the three alignments, whatever is around the text. */
function base64Needles(bytes: string): Needle[] {
  return ([0, 1, 2] as const).map((offset) => {
    const coded = Buffer.from(' '.repeat(offset) + bytes, 'latin1').toString('base64url');
    const after = (offset + bytes.length) % 3 === 0 ? 0 : 1;
    return needle(coded.slice(offset === 0 ? 0 : offset + 1, coded.length - after), offset === 0 ? 0 : 1, after);
  });
}

/**
 * Returns a text in a form that is the same for all encodings of a secret, and where each of its characters begins in
 * the original: percent-encoding and backslashes (of JSON) are removed, blanks are plus signs (as in forms), base64 is as
 * in URLs, and letters are small (as in host names).
 */
function canonicalView(original: string): { readonly text: string; readonly starts: readonly number[] } {
  const starts: number[] = [];
  let text = '';
  for (const { 0: piece, 1: hex, index } of original.matchAll(/%(?:25)*([\da-f]{2})|[^%\\]+|%/gi)) {
    const decoded = hex === undefined ? piece : String.fromCharCode(Number.parseInt(hex, 16)).replace('\\', '');
    for (let at = 0; at < decoded.length; at += 1) starts.push(index + at);
    text += decoded;
  }
  return { text: text.toLowerCase().replace(/[ +]/g, '-').replaceAll('/', '_'), starts };
}

/** Limits for foreign JSON in a log, in UTF-16 units: of one string, of all strings; and the entries at each level. */
const MAX_TEXT = 2000;
const MAX_TOTAL = 20_000;
const MAX_ENTRIES = 25;

/** Returns a bounded copy of JSON data in which no string, number or member name holds a secret. */
export function redacted(value: unknown, secrets: Secrets): unknown {
  let room = MAX_TOTAL;
  const copyText = (text: string) => {
    const copy = shortened(secrets.redact(text), Math.min(MAX_TEXT, room));
    room = Math.max(1, room - copy.length);
    return copy;
  };
  const copy = (value: unknown): unknown => {
    if (typeof value === 'string') return copyText(value);
    if (typeof value === 'number') return secrets.holds(`${value}`) ? REDACTED : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map(copy);
    // fromEntries makes own members, so that a member called `__proto__` stays data.
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, MAX_ENTRIES)
        .map(([name, member]) => {
          const isSecret = typeof member !== 'object' && secrets.isSecretName(name);
          return [copyText(name), isSecret ? REDACTED : copy(member)];
        }),
    );
  };
  return copy(value);
}
