import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { readPlain } from '../disk/plain-file.ts';

/** As `sha256sum` writes it. */
export const SUMS_NAME = 'SHA256SUMS';

/** Hash, and a name of 255 bytes, each escaped. */
const LONGEST_LINE = 1024;

/** A line with a NUL is no entry: a power cut left zeros where bytes had not reached the disk. */
const LINE = /^(\\?)([\da-f]{64}) [ *]([^\0]+)$/i;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const MEANT: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

/** One character a byte: names on disk need not be UTF-8, and nothing of them is lost so. */
export type ByteText = string;

export function byteText(text: string): ByteText {
  return Buffer.from(text).toString('latin1');
}

export function bytesOf(text: ByteText): Buffer {
  return Buffer.from(text, 'latin1');
}

/** For people: in names that are not UTF-8 each byte beyond ASCII is `\xe9`. */
export function readable(path: ByteText): string {
  const names = path.split('/').map((name) => {
    const bytes = bytesOf(name);
    if (isUtf8(bytes)) return bytes.toString();
    return name.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  });
  return names.join('/');
}

interface SumsEntry {
  readonly name: ByteText;
  /** 64 lower-case hexadecimal digits. */
  readonly sha256: string;
}

export interface Sums {
  /** The last entry of a name counts. */
  readonly entries: Map<ByteText, string>;
  /** Line numbers, from 1. */
  readonly unreadable: readonly number[];
  /** Whether the last line lacks its line break. It is no entry, since its name may be cut off. */
  readonly isTorn: boolean;
}

/**
 * As `sha256sum` writes it (coreutils, "cksum output modes"), without its line break: `HEX  NAME`, or `HEX *NAME` for
 * binary; a backslash in front says that `\\`, `\n` and `\r` in the name are escapes. The name is as it stands: see
 * {@link isPlainEntry}.
 */
export function parseSumsLine(line: ByteText): SumsEntry | undefined {
  const [, escaped, hex = '', written = ''] = LINE.exec(line) ?? [];
  if (escaped === undefined) return undefined;
  // What is no escape makes a line unreadable, as a NUL does.
  const name = escaped === '' ? written : written.replace(/\\.?/gs, (pair) => MEANT[pair] ?? '\0');
  return name.includes('\0') ? undefined : { name, sha256: hex.toLowerCase() };
}

/** With its line break. */
export function sumsLine({ name, sha256 }: SumsEntry): ByteText {
  const written = name.replace(/[\\\n\r]/g, (character) => ESCAPED[character] ?? character);
  return `${written === name ? '' : '\\'}${sha256}  ${written}\n`;
}

/**
 * Whether an entry may be opened in its own directory. What `download` refuses beyond that may be there by `-o`, or be
 * a user's own.
 */
export function isPlainEntry(name: ByteText): boolean {
  return name !== '.' && name !== '..' && name !== '' && name.length <= 255 && !/[/\0]/.test(name);
}

/** A file that does not exist says nothing. No link is followed. `shown` is the path for people. Throws `local_io`. */
export function readSums(path: string | Buffer, shown: string): Promise<Sums> {
  return sumsIn(readPlain(path, shown, constants.O_NOFOLLOW));
}

/** Skips blank lines and comments, which people write. */
export async function sumsIn(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Sums> {
  const entries = new Map<ByteText, string>();
  const unreadable: number[] = [];
  let [rest, number] = ['', 0];
  for await (const piece of pieces) {
    const lines = (rest + piece.toString('latin1')).split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE + 1);
    for (const line of lines) {
      number += 1;
      if (isBlank(line)) continue;
      const entry = entryOf(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (entry) entries.set(entry.name, entry.sha256);
      else unreadable.push(number);
    }
  }
  return { entries, unreadable, isTorn: !isBlank(rest) };
}

function isBlank(line: ByteText): boolean {
  return line === '' || line === '\r' || line.startsWith('#');
}

function entryOf(line: ByteText): SumsEntry | undefined {
  return line.length <= LONGEST_LINE ? parseSumsLine(line) : undefined;
}
