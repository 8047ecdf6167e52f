// Formats words and numbers for messages to people, and decodes text that people wrote. Text from elsewhere must also
// pass through terminal/printable.ts, which escapes the characters that could control a terminal.

/**
 * A character that a terminal would obey, reorder or not show: C0, C1, DEL, format characters (bidirectional controls,
 * zero-width characters, tags), line and paragraph separators, lone surrogates, invisible fillers.
 */
export const INVISIBLE = /[\u034f\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/u;

/** Quotes a string for a POSIX shell if necessary, so that a command in a hint works when it is pasted. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns a shell command that writes the output of `command` to a new file (0600), and fails if the file exists.
 * Nothing is quoted here: the caller has quoted what needs it in `command`, and `file` is always one of this program's
 * own names, such as `converted.key`.
 */
export function intoNewFile(command: string, file: string): string {
  return `(umask 077; set -C; ${command} > ${file})`;
}

/** The scheme of a proxy's URL may be left out. The last `@` ends the user info, even if that is not encoded. */
export function splitProxyUrl(url: string): { readonly scheme: string; readonly userInfo: string } {
  const [, scheme = '', userInfo = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?(?:(.*)@)?/is.exec(url) ?? [];
  return { scheme, userInfo };
}

/** Whether a value begins and ends with the same quote. Docker and others keep the quotes of an env file. */
export function isInQuotes(text: string): boolean {
  return /^(["']).*\1$/s.test(text);
}

export const QUOTES_HINT = 'remove the quotes: some programs keep those of an env file';

/** Maps byte-order marks, in hex, to encodings. Windows PowerShell writes text files in UTF-16. */
const UTF_16_MARKS: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' };

/** UTF-16 if the bytes begin with its byte-order mark, otherwise UTF-8. Drops the mark of either. */
export function decodeText(bytes: Buffer): string {
  return new TextDecoder(UTF_16_MARKS[bytes.toString('hex', 0, 2)]).decode(bytes);
}

/**
 * Also removes a byte-order mark. The line break may be a carriage return alone, which a shell leaves when it reads a
 * Windows file, as in FILINGS_API_KEY="$(cat key)".
 */
export function removeLineBreak(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/(?:\r\n|\n|\r)$/, '');
}

/** Converts a stream that begins with the byte-order mark of UTF-16 to UTF-8. Yields any other stream unchanged. */
export async function* toUtf8(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  // Holds back the first byte until there is a second, because a mark has two.
  let start: Buffer | undefined = Buffer.alloc(0);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const bytes of stream) {
    let piece: Buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
    if (start) {
      piece = Buffer.concat([start, piece]);
      start = piece.length < 2 ? piece : undefined;
      if (start) continue;
      const encoding = UTF_16_MARKS[piece.toString('hex', 0, 2)];
      decoder = encoding === undefined ? undefined : new TextDecoder(encoding);
    }
    yield decoder ? Buffer.from(decoder.decode(piece, { stream: true })) : piece;
  }
  if (start?.length) yield start;
  if (decoder) yield Buffer.from(decoder.decode());
}

/** Cuts a long text to `length` UTF-16 units, ellipsis included, but never between the halves of a surrogate pair. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Quotes and shortens a name that comes from a file or a token, with JSON's escapes. */
export function quoted(text: string, length = 40): string {
  return JSON.stringify(shortened(text, length));
}

/** `12,000`. Not with `toLocaleString`, because its first call takes 20 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 file`, `3 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Exactly, in seconds if there is at least one: `500 ms`, `1.5 s`, `60 s`. */
export function exactDuration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${milliseconds / 1000} s`;
}

const TIME_UNITS = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3600 },
  { name: 'min', seconds: 60 },
] as const;

/** Without the sign, in the largest unit of which there are at least two: `94 s`, `3 h`. */
export function roughDuration(seconds: number, round: (amount: number) => number = Math.round): string {
  const length = Math.abs(seconds);
  const unit = TIME_UNITS.find((each) => length >= 2 * each.seconds) ?? { name: 's', seconds: 1 };
  return `${round(length / unit.seconds)} ${unit.name}`;
}

/** `0.4 s`, `94 s`, `3 h`. */
export function humanDuration(milliseconds: number): string {
  // From 9.95 s on, one decimal would round to 10.0.
  if (milliseconds < 9950) return `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`;
  return roughDuration(milliseconds / 1000);
}

/** `a, b or c`. */
export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** In decimal units: `999 B`, `1.2 kB`, `143 MB`. */
export function humanBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  // From 999.5 on, an amount of kB or more would be rounded to 1000. An amount in B is whole, so its limit is 1000.
  while (size >= (unit === 0 ? 1000 : 999.5) && unit < BYTE_UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit > 0 && size < 9.95 ? size.toFixed(1) : Math.round(size)} ${BYTE_UNITS[unit]}`;
}

/** If the sizes differ but would look the same, they are exact: `2,999,999 B` and `3,000,000 B`. */
export function humanSizes(one: number, other: number): readonly [string, string] {
  const sizes = [humanBytes(one), humanBytes(other)] as const;
  return one !== other && sizes[0] === sizes[1] ? [`${grouped(one)} B`, `${grouped(other)} B`] : sizes;
}
