// Removes the secrets of a run from foreign text. The program's own words are never redacted: if the API key were
// `downloaded`, the summary "3 downloaded" would become "3 [redacted]". So code that puts foreign text into a message
// marks it with `markForRedaction`, and only that is redacted when the message is printed.

import { shortened } from './text.ts';

export const REDACTED = '[redacted]';
/**
 * Shorter secrets, which may be ordinary words, are redacted only where a key is expected: in the positions of
 * {@link KEY_IN_URL}, and after the name of a field that holds a key.
 */
const MIN_LENGTH = 8;

/**
 * Far more than any message shows. In longer text, V8's stack overflows in the expressions below: it keeps a place for
 * each repetition of a group.
 */
const MAX_MARKED = 1 << 18;

export function markForRedaction(text: string): string {
  // U+FDD0 and U+FDD1 are noncharacters, which Unicode reserves for use inside a program.
  return `\ufdd0${removeMarks(text.slice(0, MAX_MARKED))}\ufdd1`;
}

/** Removes the marks, and leaves the secrets. Never print the result. */
export function removeMarks(message: string): string {
  return message.replace(/[\ufdd0\ufdd1]/g, '');
}

/** A percent sign, which may be percent-encoded itself any number of times: `%`, `%25`, `%2525`. */
const PERCENT = '%(?:25)*';
/** Characters that every encoder escapes, so that they end a URL. An apostrophe does not: encoders may keep it. */
const URL_END = '\\0-\\x20"<>';

/**
 * The query parameter `apikey`, what follows `/APIKEY-` in the path (docs/service.md, section 5), and user and password
 * before the `@`. Each has two patterns. The second is for a percent-encoded URL, because a redirect's URL may carry
 * the requested URL in a parameter. In HTML, `apikey=` follows the `;` of `&amp;`.
 */
const KEY_IN_URL = [
  `(?<=[?&;/]apikey=)[^&#${URL_END}]+`,
  `(?<=${PERCENT}(?:3f|26)apikey${PERCENT}3d)(?:(?!${PERCENT}2[36])[^&#${URL_END}])+`,
  `(?<=/APIKEY-)[^/?#${URL_END}]+`,
  `(?<=${PERCENT}2fAPIKEY-)(?:(?!${PERCENT}(?:2f|3f|23))[^/?#${URL_END}])+`,
  `(?<=://)[^/?#${URL_END}]+(?=@)`,
  `(?<=${PERCENT}3a${PERCENT}2f${PERCENT}2f)(?:(?!${PERCENT}(?:2f|3f|23))[^/?#${URL_END}])+(?=${PERCENT}40)`,
].join('|');
const ALL_KEYS_IN_URL = new RegExp(KEY_IN_URL, 'gi');

/** Redacts only the key in the URL of a request. Its other text is the program's own, so `redact` would be too much. */
export function redactKeyInUrl(url: string): string {
  return url.replace(ALL_KEYS_IN_URL, REDACTED);
}

/**
 * An encoded form of a secret. In base64, the first and the last character may mix bits of the secret with bits of the
 * text around it. The form leaves such a character out, but it is redacted as well: `before` and `after` count them.
 */
interface Needle {
  readonly text: string;
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

type Range = readonly [from: number, to: number];

/**
 * A secret of at least {@link MIN_LENGTH} characters is found anywhere: as it is, percent-encoded any number of times,
 * or in base64. For shorter ones, `redact` replaces whatever stands where this program or the service puts keys.
 */
export class Secrets {
  /** Maps the byte string of each secret to its encoded forms. A secret too short to be searched for has none. */
  readonly #needles = new Map<string, readonly Needle[]>();
  /** The names of header fields, parameters and JSON members that hold a key or a token. */
  readonly #credentialNames = new Set(['authorization', 'proxy-authorization', 'x-service-key', 'apikey']);
  #positionPattern = createPositionPattern(this.#credentialNames);

  add(secret: string | Buffer): void {
    const bytes = toByteString(secret);
    if (bytes === '' || this.#needles.has(bytes)) return;
    // A login page may put the whole address of a request into base64. In that address the key is percent-encoded.
    const inUrl = encodeURIComponent(Buffer.from(bytes, 'latin1').toString());
    const inBase64 = [...createBase64Needles(bytes), ...createBase64Needles(inUrl)];
    this.#needles.set(bytes, bytes.length < MIN_LENGTH ? [] : [createNeedle(bytes), ...inBase64]);
  }

  /** For an expired token: a run of many hours mints many, and each one costs time in every search. */
  forget(secret: string): void {
    this.#needles.delete(toByteString(secret));
  }

  /** The header field in which `--key-in header` sends the key. */
  addCredentialName(name: string): void {
    this.#credentialNames.add(name.toLowerCase());
    this.#positionPattern = createPositionPattern(this.#credentialNames);
  }

  holdsCredential(name: string): boolean {
    return this.#credentialNames.has(name.toLowerCase());
  }

  /** Unlike `redact`, this compares what stands where a key is expected with the secrets. */
  occurIn(text: string): boolean {
    if (this.#find(text).length > 0) return true;
    const secrets = [...this.#needles.keys()];
    // Between `//` and `@` of a URL, the secret follows the user name and a colon.
    const isSecret = (match: string, secret: string) => match === secret || match.endsWith(`:${secret}`);
    return (text.match(this.#positionPattern) ?? [])
      .map((match) => canonicalize(toByteString(match)).text)
      .some((match) => secrets.some((secret) => isSecret(match, canonicalize(secret).text)));
  }

  redact(text: string): string {
    const bytes = Buffer.from(text);
    let [result, end] = ['', 0];
    for (const [from, to] of this.#find(text)) {
      // Ranges that overlap or touch each other become one `[redacted]`. Before the first range, `end` is 0.
      if (end === 0 || from > end) result += bytes.toString('utf8', end, from) + REDACTED;
      end = Math.max(end, to);
    }
    return (result + bytes.toString('utf8', end)).replace(this.#positionPattern, REDACTED);
  }

  /** Shortens each marked part to `maxLength` UTF-16 units, but never the program's own words. */
  redactMarked(message: string, maxLength = Number.POSITIVE_INFINITY): string {
    // Redacts before shortening, because half a secret would not be recognized. If a message has lost the second mark,
    // everything after the first is redacted.
    return message.replace(/\ufdd0([^\ufdd1]*)\ufdd1?/g, (_, text) => {
      // `markForRedaction` may have cut a secret at the end of the text. None is as long as a quarter of it.
      const safe = this.redact(text).slice(0, text.length < MAX_MARKED ? undefined : -MAX_MARKED / 4);
      return shortened(safe, maxLength);
    });
  }

  /** Returns ranges of the text's UTF-8 bytes in ascending order. They may overlap. */
  #find(text: string): readonly Range[] {
    const bytes = toByteString(text);
    const canonical = canonicalize(bytes);
    const ranges: Range[] = [];
    for (const [secret, needles] of this.#needles) {
      // The original is searched as well. In `%` followed by the secret `41bc…`, for example, canonicalizing takes
      // `%41` for an encoded letter, and so destroys the beginning of the secret.
      if (needles.length > 0) for (const at of findAll(bytes, secret)) ranges.push([at, at + secret.length]);
      for (const { text, before, after } of needles) {
        for (const at of findAll(canonical.text, text)) {
          let end = at + text.length + after;
          // The padding of base64, which can only follow an unknown last character.
          while (after && canonical.text[end] === '=') end += 1;
          ranges.push([canonical.starts[at - before] ?? 0, canonical.starts[end] ?? bytes.length]);
        }
      }
    }
    return ranges.sort(([a], [b]) => a - b);
  }
}

/**
 * Matches what is in a {@link KEY_IN_URL}, or after one of the names in a header line (`Authorization: Basic KEY`) or
 * in JSON (`"apikey": "KEY"`). The quotes of JSON are escaped when the JSON is in a string of other JSON. The value
 * must not begin with a bracket, because an array or an object is not a key. Nor may it begin with a scheme: the scheme
 * before the value is optional, so without this check `Basic` would be redacted as the value.
 */
function createPositionPattern(credentialNames: ReadonlySet<string>): RegExp {
  // A field name has no other characters that are special in a pattern (RFC 9110, section 5.6.2).
  const names = [...credentialNames].map((name) => name.replace(/[$*+.^|]/g, '\\$&')).join('|');
  const scheme = '(?:basic|bearer) ';
  const quote = `(?:\\\\{0,3}["'])?`;
  const afterName = `(?<=(?<![\\w-])(?:${names})${quote} ?[:=] ?${quote}(?:${scheme})?)`;
  return new RegExp(`${KEY_IN_URL}|${afterName}(?!${scheme}|[[{])(?:\\\\.|[^\\s"<>\\\\])+`, 'gi');
}

/** One character for each byte, so that an index is a number of bytes, and a secret need not be valid UTF-8. */
function toByteString(text: string | Buffer): string {
  return (typeof text === 'string' ? Buffer.from(text) : text).toString('latin1');
}

function findAll(text: string, wanted: string): number[] {
  const indexes: number[] = [];
  // Canonicalizing may shorten a secret of MIN_LENGTH, even to nothing if it is all backslashes. A very short string
  // would be found everywhere.
  if (wanted.length < MIN_LENGTH / 2) return indexes;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) indexes.push(at);
  return indexes;
}

function createNeedle(text: string, before: 0 | 1 = 0, after: 0 | 1 = 0): Needle {
  return { text: canonicalize(text).text, before, after };
}

/**
 * Base64 encodes groups of three bytes (RFC 4648, section 4), so the form depends on whether the secret begins at the
 * first, second or third byte of a group.
 */
function createBase64Needles(bytes: string): Needle[] {
  return ([0, 1, 2] as const).map((offset) => {
    const coded = Buffer.from(' '.repeat(offset) + bytes, 'latin1').toString('base64url');
    // A character has 6 bits. One or two bytes before the secret fill as many characters, and part of the next.
    const [start, before] = offset === 0 ? ([0, 0] as const) : ([offset + 1, 1] as const);
    const after = (offset + bytes.length) % 3 === 0 ? 0 : 1;
    return createNeedle(coded.slice(start, coded.length - after), before, after);
  });
}

/**
 * Rewrites a text so that all encodings of the same secret become equal:
 *
 * - Percent-encoding is decoded, and backslashes (JSON escapes) are removed.
 * - Spaces and plus signs become `-`: forms encode a space as a plus sign, and base64url has `-` for the `+` of base64.
 * - Slashes become `_`, as in base64url.
 * - Letters become lower-case, because a secret in a host name is.
 *
 * `original` is a byte string. `starts` has the index in it of each character of the result: `%41B` becomes `ab`, with
 * the starts [0, 3].
 */
function canonicalize(original: string): { readonly text: string; readonly starts: readonly number[] } {
  const read: { readonly char: string; readonly start: number; readonly level: number }[] = [];
  for (let start = 0; start < original.length; start += 1) {
    if (original[start] !== '\\') read.push({ char: original.charAt(start), start, level: 0 });
    // Any of the three characters may have been percent-encoded itself. But in `100%%61%62`, the first percent sign is
    // plain text before `ab`, so the digits must not be encoded more often than their percent sign.
    for (let percent = read.at(-3); percent?.char === '%'; percent = read.at(-3)) {
      const { level } = percent;
      const digits = read.slice(-2);
      if (digits.some((digit) => digit.level > level || !/[\da-f]/i.test(digit.char))) break;
      const char = String.fromCharCode(Number.parseInt(digits.map((digit) => digit.char).join(''), 16));
      read.splice(-3, 3, ...(char === '\\' ? [] : [{ ...percent, char, level: level + 1 }]));
    }
  }
  const text = read.map(({ char }) => char).join('');
  const starts = read.map(({ start }) => start);
  // None of these replacements changes the length, so the indexes in `starts` stay right.
  return { text: text.toLowerCase().replace(/[ +]/g, '-').replaceAll('/', '_'), starts };
}

/** The limits of a copy of foreign JSON, in UTF-16 units and in members. */
const MAX_STRING = 2000;
const MAX_TOTAL = 20_000;
const MAX_ENTRIES = 25;

/** A copy that is short enough for a log, and in which strings, numbers and names are redacted. */
export function redactJson(value: unknown, secrets: Secrets): unknown {
  let room = MAX_TOTAL;
  const copyText = (text: string) => {
    const copy = shortened(secrets.redact(text), Math.min(MAX_STRING, room));
    // `shortened` needs room for its ellipsis.
    room = Math.max(1, room - copy.length);
    return copy;
  };
  const copy = (value: unknown): unknown => {
    if (typeof value === 'string') return copyText(value);
    if (typeof value === 'number') return secrets.occurIn(`${value}`) ? REDACTED : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map(copy);
    // Unlike an assignment, fromEntries treats `__proto__` as an ordinary member.
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, MAX_ENTRIES)
        .map(([name, member]) => {
          // An object or an array is not a key. The strings in it are redacted like all others.
          const isSecret = typeof member !== 'object' && secrets.holdsCredential(name);
          return [copyText(name), isSecret ? REDACTED : copy(member)];
        }),
    );
  };
  return copy(value);
}
