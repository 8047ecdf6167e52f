import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { readPlain } from '../disk/plain-file.ts';

/** The file that lists a directory's files, as `sha256sum` writes it. */
export const SUMS_NAME = 'SHA256SUMS';

/** The longest line that can be one: hash, and a name of 255 bytes, each escaped. */
const LONGEST_LINE = 1024;

/** No name holds a NUL: where one stands, the power went before the rest of the line was on disk. */
const LINE = /^(\\?)([\da-f]{64}) [ *]([^\0]+)$/i;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const MEANT: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

/** Bytes as text of one character a byte: names on disk need not be UTF-8, and nothing of them is lost so. */
export type ByteText = string;

/** A name or path of the program's own, as the bytes that stand on disk. */
export function byteText(text: string): ByteText {
  return Buffer.from(text).toString('latin1');
}

/** What system calls take. */
export function bytesOf(text: ByteText): Buffer {
  return Buffer.from(text, 'latin1');
}

/** A path as text for people: in names that are not UTF-8 each byte beyond ASCII as `\xe9`. */
export function readable(path: ByteText): string {
  const names = path.split('/').map((name) => {
    const bytes = bytesOf(name);
    if (isUtf8(bytes)) return bytes.toString();
    return name.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  });
  return names.join('/');
}

/** A line of a checksum file: a name of its directory, and what the file must hash to. */
export interface SumsEntry {
  readonly name: ByteText;
  /** 64 lower-case hexadecimal digits. */
  readonly sha256: string;
}

/** What a checksum file says. */
export interface Sums {
  /** What each name must hash to: the last entry of a name counts. */
  readonly entries: Map<ByteText, string>;
  /** The numbers of lines that can't be read, from 1. */
  readonly unreadable: readonly number[];
  /** A last line that no line break ends: an entry, or the beginning of one, which is undefined where it can't be read. */
  readonly last: { readonly entry: SumsEntry | undefined } | undefined;
}

/**
 * Reads a line as `sha256sum` writes it (coreutils, "cksum output modes"), without its line break: `HEX  NAME`, or
 * `HEX *NAME` for binary; a backslash in front says that `\\`, `\n` and `\r` in the name are escapes. Undefined for
 * anything else. The name is as it stands: see {@link isPlainEntry}.
 */
export function parseSumsLine(line: ByteText): SumsEntry | undefined {
  const [, escaped, hex = '', written = ''] = LINE.exec(line) ?? [];
  if (escaped === undefined) return undefined;
  // What is no escape makes it unreadable, as a NUL does.
  const name = escaped === '' ? written : written.replace(/\\.?/gs, (pair) => MEANT[pair] ?? '\0');
  return name.includes('\0') ? undefined : { name, sha256: hex.toLowerCase() };
}

/** The line of an entry, its line break included. */
export function sumsLine({ name, sha256 }: SumsEntry): ByteText {
  const written = name.replace(/[\\\n\r]/g, (character) => ESCAPED[character] ?? character);
  return `${written === name ? '' : '\\'}${sha256}  ${written}\n`;
}

/**
 * Whether an entry names a file of its own directory, so that it may be opened there. What `download` refuses beyond that
 * may be there by `-o`, or be a user's own.
 */
export function isPlainEntry(name: ByteText): boolean {
  return name !== '.' && name !== '..' && name !== '' && name.length <= 255 && !/[/\0]/.test(name);
}

/**
 * Reads a checksum file; one that does not exist says nothing. No link is followed. `shown` is its path for people.
 * Throws `local_io`.
 */
export function readSums(path: string | Buffer, shown: string): Promise<Sums> {
  return sumsIn(readPlain(path, shown, constants.O_NOFOLLOW));
}

/** What a text says that comes in pieces. Blank lines come of appends after a torn line, comments of people. */
export async function sumsIn(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Sums> {
  const entries = new Map<ByteText, string>();
  const unreadable: number[] = [];
  let [rest, number] = ['', 0];
  for await (const piece of pieces) {
    const lines = (rest + piece.toString('latin1')).split('\n');
    // Whatever follows one that is too long, it is no entry.
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE + 1);
    for (const line of lines) {
      number += 1;
      if (isBlank(line)) continue;
      const entry = entryOf(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (entry) entries.set(entry.name, entry.sha256);
      else unreadable.push(number);
    }
  }
  return { entries, unreadable, last: isBlank(rest) ? undefined : { entry: entryOf(rest) } };
}

function isBlank(line: ByteText): boolean {
  return line === '' || line === '\r' || line.startsWith('#');
}

function entryOf(line: ByteText): SumsEntry | undefined {
  return line.length <= LONGEST_LINE ? parseSumsLine(line) : undefined;
}
