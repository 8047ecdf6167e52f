// Checks the head of a response more strictly than undici does: its status line, its framing and its dates. All of
// these functions are pure.

/** Fields by lower-case name. The value of a repeated field is an array. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** The rule that ends a body (RFC 9112, section 6.3). */
export type Framing =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Returns the framing of a body. undici accepts an unknown transfer coding and returns its raw bytes as the body, so
 * every coding other than exactly `chunked` is invalid.
 */
export function framingOf(headers: HeaderFields): Framing {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined) {
    if (length !== undefined) return { kind: 'invalid', reason: 'both a length and a transfer coding' };
    if (typeof coding === 'string' && coding.toLowerCase() === 'chunked') return { kind: 'chunked' };
    return { kind: 'invalid', reason: `the transfer coding ${JSON.stringify(String(coding))} is not known` };
  }
  if (length === undefined) return { kind: 'until-close' };
  // Blanks after a value are not part of it (RFC 9110, section 5.5), but undici does not remove them.
  if (typeof length === 'string' && /^\d{1,15}[ \t]*$/.test(length)) return { kind: 'length', length: Number(length) };
  return { kind: 'invalid', reason: `the length ${JSON.stringify(String(length))} is not a number` };
}

/** The length of `HTTP/1.1 200`, which is enough to recognize HTTP. */
const START_BYTES = 12;
const NO_HTTP = 'it does not begin with HTTP/1.0 or HTTP/1.1 and a status';
/** A longer start is treated as a status line without an end. In characters. */
const MAX_START_LENGTH = 65_536;
/** Every control character except the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters.
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/**
 * Checks the status line, because undici's parser takes RTSP and HTTP/2.0 for HTTP/1 and fails at a status below 100.
 * Returns its fault, if there is one, and the text without interim responses. Without `isFinal` more text is needed.
 */
export function readStart(text: string): { readonly fault?: string; readonly isFinal?: true; readonly rest: string } {
  let rest = text;
  while (rest.length >= START_BYTES) {
    const status = /^HTTP\/1\.[01] ([1-9]\d\d)/.exec(rest)?.[1];
    if (status === undefined) return { fault: NO_HTTP, rest };
    if (status === '101') return { fault: 'it switches to another protocol, which nobody asked for', rest };
    const lineEnd = rest.indexOf('\r\n');
    if (CONTROL.test(lineEnd < 0 ? rest.replace(/\r$/, '') : rest.slice(0, lineEnd))) {
      return { fault: 'a control character in its status line', rest };
    }
    if (lineEnd >= 0 && !status.startsWith('1')) return { isFinal: true, rest };
    const end = rest.indexOf('\r\n\r\n');
    if (lineEnd < 0 || end < 0) break;
    rest = rest.slice(end + 4);
  }
  if (!'HTTP/1.'.startsWith(rest.slice(0, 7))) return { fault: NO_HTTP, rest };
  return rest.length > MAX_START_LENGTH ? { fault: 'its status line does not end', rest } : { rest };
}

/**
 * Returns a date of HTTP (RFC 9110, section 5.6.7) in milliseconds since the epoch, or undefined for any other text,
 * because Date.parse takes "-1" for a year. A date without a zone is in UTC, not in the machine's zone.
 */
export function httpDate(text: string): number | undefined {
  const date = text.trim();
  if (!/^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(date)) return undefined;
  const time = Date.parse(/ ([a-z]{1,5}|[+-]\d\d:?\d\d)$/i.test(date) ? date : `${date} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
