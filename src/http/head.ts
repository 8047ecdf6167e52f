/** By lower-case name; a field that came several times is an array. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** RFC 9112 section 6.3. */
export type Framing =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }
  | { readonly kind: 'unsound'; readonly why: string };

/**
 * undici lets an unknown transfer coding pass and hands its raw framing over as the body, so anything but exactly
 * `chunked` is unsound.
 */
export function framingOf(headers: HeaderFields): Framing {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined) {
    if (length !== undefined) return { kind: 'unsound', why: 'both a length and a transfer coding' };
    if (typeof coding === 'string' && coding.toLowerCase() === 'chunked') return { kind: 'chunked' };
    return { kind: 'unsound', why: `the transfer coding ${JSON.stringify(String(coding))} is not known` };
  }
  if (length === undefined) return { kind: 'until-close' };
  // Blanks behind a value are not of it (RFC 9110 section 5.5); undici leaves them there.
  if (typeof length === 'string' && /^\d{1,15}[ \t]*$/.test(length)) return { kind: 'length', length: Number(length) };
  return { kind: 'unsound', why: `the length ${JSON.stringify(String(length))} is not a number` };
}

/** Enough to see what is no HTTP: `HTTP/1.1 200`. */
const START_BYTES = 12;
const NO_HTTP = 'it does not begin with HTTP/1.0 or HTTP/1.1 and a status';
/** A longer status line has no end. */
const MAX_START = 65_536;
/** All but the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/**
 * What is wrong with the status line: undici's parser takes RTSP and HTTP/2.0 for HTTP/1, and dies of a status below
 * 100. Interim answers are not in `rest`; without `final` more must come behind it.
 */
export function readStart(text: string): { readonly fault?: string; readonly final?: true; readonly rest: string } {
  let rest = text;
  while (rest.length >= START_BYTES) {
    const status = /^HTTP\/1\.[01] ([1-9]\d\d)/.exec(rest)?.[1];
    if (status === undefined) return { fault: NO_HTTP, rest };
    if (status === '101') return { fault: 'it switches to another protocol, which nobody asked for', rest };
    const lineEnd = rest.indexOf('\r\n');
    if (CONTROL.test(lineEnd < 0 ? rest.replace(/\r$/, '') : rest.slice(0, lineEnd))) {
      return { fault: 'a control character in its status line', rest };
    }
    if (lineEnd >= 0 && !status.startsWith('1')) return { final: true, rest };
    const end = rest.indexOf('\r\n\r\n');
    if (lineEnd < 0 || end < 0) break;
    rest = rest.slice(end + 4);
  }
  if (!'HTTP/1.'.startsWith(rest.slice(0, 7))) return { fault: NO_HTTP, rest };
  return rest.length > MAX_START ? { fault: 'its status line does not end', rest } : { rest };
}

/**
 * RFC 9110 section 5.6.7, in milliseconds since the epoch; undefined for anything else, since Date.parse takes "-1" for
 * a year. Without a zone it is UTC, not the machine's own.
 */
export function httpDate(text: string): number | undefined {
  const date = text.trim();
  if (!/^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(date)) return undefined;
  const time = Date.parse(/ ([a-z]{1,5}|[+-]\d\d:?\d\d)$/i.test(date) ? date : `${date} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
