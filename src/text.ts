// Words and numbers in messages for people. terminal/printable.ts makes characters visible that could control a
// terminal.

/** Returns the text as one word of a POSIX shell, so that a command in a hint works when it is pasted. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns a shell command that writes the output of another one to a new file, which only its owner can read. */
export function intoNewFile(command: string, file: string): string {
  return `(umask 077; set -C; ${command} > ${file})`;
}

/** The encodings of byte-order marks. PowerShell writes such files. */
const MARKS: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' };

/** Returns the text of bytes in UTF-8 or, if they begin with its mark, in UTF-16, without the mark. */
export function textOf(bytes: Buffer): string {
  return new TextDecoder(MARKS[bytes.toString('hex', 0, 2)]).decode(bytes);
}

/** Yields a stream of UTF-8 as it is, and of UTF-16 with a mark in UTF-8. */
export async function* inUtf8(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const bytes of stream) {
    let piece: Buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
    if (start) {
      piece = Buffer.concat([start, piece]);
      start = piece.length < 2 ? piece : undefined;
      if (start) continue;
      const encoding = MARKS[piece.toString('hex', 0, 2)];
      decoder = encoding === undefined ? undefined : new TextDecoder(encoding);
    }
    yield decoder ? Buffer.from(decoder.decode(piece, { stream: true })) : piece;
  }
  if (start?.length) yield start;
  if (decoder) yield Buffer.from(decoder.decode());
}

/**
 * Returns the text, or its beginning and an ellipsis: at most `length` UTF-16 units, without half a surrogate pair.
 */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Returns a name from a file or a token in quotes, shortened, with the escapes of JSON. */
export function quoted(text: string, length = 40): string {
  return JSON.stringify(shortened(text, length));
}

/** Returns a whole number in groups of three digits: `12,000`. The first call of `toLocaleString` would take 20 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Returns a number with its noun: `1 file`, `3 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Returns milliseconds as exact seconds: `60 s`, `0.5 s`. */
export function inSeconds(milliseconds: number): string {
  return `${milliseconds / 1000} s`;
}

const UNITS = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3600 },
  { name: 'min', seconds: 60 },
] as const;

/** Returns seconds in the largest unit of which there are at least two, rounded down by default: `94 s`, `3 h`. */
export function span(seconds: number, rounded: (amount: number) => number = Math.floor): string {
  const size = Math.abs(seconds);
  const unit = UNITS.find((each) => size >= 2 * each.seconds) ?? { name: 's', seconds: 1 };
  return `${rounded(size / unit.seconds)} ${unit.name}`;
}

/** Returns milliseconds for people: `0.4 s`, `94 s`, `3 h`. */
export function humanDuration(milliseconds: number): string {
  if (milliseconds < 9950) return `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`;
  return span(milliseconds / 1000, Math.round);
}

/** Joins words: `a, b or c`. */
export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Returns a number of bytes for people, in decimal units: `999 B`, `1.2 kB`, `143 MB`. */
export function humanBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  // 999.5 would round to four digits.
  while (size >= (unit === 0 ? 1000 : 999.5) && unit < SIZES.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit > 0 && size < 9.95 ? size.toFixed(1) : Math.round(size)} ${SIZES[unit]}`;
}
