// What undici gets wrong in the head of a response: interim responses, malformed status lines, and framings that it
// does not know. Also parses HTTP dates.

/** The names are in lower case. The value of a repeated field is an array. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** RFC 9112, section 6.3. A body with no member set here is chunked. */
export interface Framing {
  /** Why it is invalid. */
  readonly reason?: string;
  /** The value of Content-Length. */
  readonly length?: number;
  readonly endsWithConnection?: true;
}

/** The limit for all header fields of a response together, and for a status line or an interim response. */
export const MAX_HEAD_BYTES = 16_384;

/**
 * undici would treat the raw bytes of an unknown transfer coding as the body, so any coding but `chunked` is invalid
 * here. A 204 or 304 has no body, but any of these is an error for this program anyway.
 */
export function parseFraming({ 'content-length': length, 'transfer-encoding': coding }: HeaderFields): Framing {
  // Such a response may be an attack and should be treated as an error (RFC 9112, section 6.3).
  if (Array.isArray(length) || Array.isArray(coding) || (length !== undefined && coding !== undefined)) {
    const fields = [
      ...[length ?? []].flat().map((value) => `Content-Length: ${value}`),
      ...[coding ?? []].flat().map((value) => `Transfer-Encoding: ${value}`),
    ];
    return { reason: `its length is stated more than once (${fields.join(', ')})` };
  }
  if (coding?.toLowerCase() === 'chunked') return {};
  if (coding !== undefined) return { reason: `the transfer coding ${JSON.stringify(coding)} is not known` };
  if (length === undefined) return { endsWithConnection: true };
  // White space after a value does not belong to it (RFC 9110, section 5.5), but undici does not remove it. More than
  // 15 digits might not fit into a number exactly.
  if (/^\d{1,15}[ \t]*$/.test(length)) return { length: Number(length) };
  return { reason: `the length ${JSON.stringify(length)} is not a number` };
}

/** undici's parser refuses a head with two lengths without saying which. Finds them in the text of the head. */
export function findFramingFault(text: string): string | undefined {
  const [head = ''] = text.split('\r\n\r\n', 1);
  const find = (name: string) => {
    const values = [...head.matchAll(new RegExp(`^${name}:[ \\t]*(.*)$`, 'gim'))].map(([, value]) => `${value}`.trim());
    return values.length > 1 ? values : values[0];
  };
  const fields = ['content-length', 'transfer-encoding'].map((name) => [name, find(name)] as const);
  return parseFraming(Object.fromEntries(fields)).reason;
}

/** The length of `HTTP/1.1 200`. */
const MIN_STATUS_LINE_LENGTH = 12;
const NOT_HTTP = 'it does not begin with HTTP/1.0 or HTTP/1.1 and a status';
/** Every control character except the tab (RFC 9112, section 4). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters.
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/**
 * Skips interim responses (1xx, RFC 9110, section 15.2), because undici fails at a 100, and checks each status line on
 * the way, because undici's parser takes RTSP and HTTP/2.0 for HTTP/1 and fails at a status below 100. If `text` does
 * not reach the final status line (`isFinal`) yet, the next call gets `rest` with the new bytes after it.
 */
export function skipInterimResponses(text: string) {
  let rest = text;
  while (rest.length >= MIN_STATUS_LINE_LENGTH) {
    const status = /^HTTP\/1\.[01] ([1-9]\d\d)/.exec(rest)?.[1];
    if (status === undefined) return { reason: NOT_HTTP, rest };
    if (status === '101') return { reason: 'it switches to another protocol, which was not requested', rest };
    const lineEnd = rest.indexOf('\r\n');
    // Without a line end, the text may still end in the CR that begins one, so a CR there is not an error.
    if (CONTROL.test(lineEnd < 0 ? rest.replace(/\r$/, '') : rest.slice(0, lineEnd))) {
      return { reason: 'a control character in its status line', rest };
    }
    if (lineEnd >= 0 && !status.startsWith('1')) return { isFinal: true, rest };
    // Here the response is interim, or its status line is not complete. An interim response has no body.
    const headEnd = rest.indexOf('\r\n\r\n');
    if (lineEnd < 0 || headEnd < 0) break;
    // A line without a colon may be the final status line, if the empty line before it is missing.
    if (!/^(?:\r\n(?:[^\s:]+:|[ \t])[^\r\n]*)*$/.test(rest.slice(lineEnd, headEnd))) {
      return { reason: 'its interim response is malformed', rest };
    }
    rest = rest.slice(headEnd + 4);
  }
  if (!'HTTP/1.'.startsWith(rest.slice(0, 7))) return { reason: NOT_HTTP, rest };
  return rest.length > MAX_HEAD_BYTES
    ? { reason: 'its status line or an interim response is longer than 16 KiB', rest }
    : { rest };
}

/**
 * RFC 9110, section 5.6.7, in milliseconds since the epoch. The three formats all begin with a day of the week: `Sun,
 * 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
 */
export function parseHttpDate(value: HeaderFields[string]): number | undefined {
  if (typeof value !== 'string') return undefined;
  const date = value.trim();
  // Date.parse alone would read "-1" as a year.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(date)) return undefined;
  // HTTP dates are in UTC, but Date.parse reads a date without a zone, such as the last format, in the zone of this
  // machine. Other zones than GMT are accepted as well, because Date.parse understands them.
  const time = Date.parse(/ ([a-z]{1,5}|[+-]\d\d:?\d\d)$/i.test(date) ? date : `${date} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
