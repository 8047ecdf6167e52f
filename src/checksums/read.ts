import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { isOneFile } from '../disk/file-name.ts';
import { readPlain } from '../disk/plain-file.ts';

// Reads and writes SHA256SUMS in the format of `sha256sum`. Names stay bytes, because they need not be UTF-8.

/** The name of a directory's checksum file. */
export const SUMS_NAME = 'SHA256SUMS';

/** A line holds a hash and a name of at most 255 bytes, each of which may be escaped. */
const MAX_LINE_BYTES = 1024;

/** An entry. A line with a NUL is none: a power cut leaves zeros for bytes that did not reach the disk. */
const LINE = /^(\\?)([\da-f]{64}) [ *]([^\0]+)$/i;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const UNESCAPED: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

/** Bytes as Latin-1, one character for each byte, because the names of files need not be UTF-8. */
export type ByteText = string;

export function byteText(text: string): ByteText {
  return Buffer.from(text).toString('latin1');
}

export function bytesOf(text: ByteText): Buffer {
  return Buffer.from(text, 'latin1');
}

/**
 * Returns a path for system calls: a string if it is UTF-8, because Windows accepts long paths and distinguishes names
 * of devices only in strings.
 */
export function systemPath(path: ByteText): string | Buffer {
  const bytes = bytesOf(path);
  return isUtf8(bytes) ? bytes.toString() : bytes;
}

/** Returns a path for people. In a name that is not UTF-8, each byte beyond ASCII is written as `\xe9`. */
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
  /** The hash, as 64 lower-case hexadecimal digits. */
  readonly sha256: string;
}

interface Sums {
  /** The hashes by name. The last entry for a name counts. */
  readonly entries: Map<ByteText, string>;
  /** The numbers of unreadable lines, from 1. */
  readonly unreadable: readonly number[];
  /** True if the last line has no line break. It is no entry, because its name may be cut off. */
  readonly isTorn: boolean;
}

/**
 * Reads a line of `sha256sum` (coreutils, "cksum output modes") without its line break: `HEX  NAME`, or `HEX *NAME` for
 * binary mode. After a backslash at its start, `\\`, `\n` and `\r` in the name are escapes. The name is not checked:
 * see {@link isPlainEntry}.
 */
export function parseSumsLine(line: ByteText): SumsEntry | undefined {
  const [, escaped, hex = '', written = ''] = LINE.exec(line) ?? [];
  if (escaped === undefined) return undefined;
  // An invalid escape makes the line unreadable, as a NUL does.
  const name = escaped === '' ? written : written.replace(/\\.?/gs, (pair) => UNESCAPED[pair] ?? '\0');
  return name.includes('\0') ? undefined : { name, sha256: hex.toLowerCase() };
}

/** Returns the line of an entry, with its line break. */
export function sumsLine({ name, sha256 }: SumsEntry): ByteText {
  const written = name.replace(/[\\\n\r]/g, (character) => ESCAPED[character] ?? character);
  return `${written === name ? '' : '\\'}${sha256}  ${written}\n`;
}

/**
 * Returns whether an entry is the name of a file in its own directory, which may be opened. Names that `download`
 * refuses are accepted, because `-o` and other programs can create them.
 */
export function isPlainEntry(name: ByteText, platform: string): boolean {
  return name.length <= 255 && isOneFile(bytesOf(name).toString(), platform);
}

/**
 * Reads a SHA256SUMS. A file that does not exist counts as empty. Follows no links. `displayPath` is for messages.
 * Throws `local_io`.
 */
export function readSums(path: string | Buffer, displayPath: string): Promise<Sums> {
  return sumsIn(readPlain(path, displayPath, constants.O_NOFOLLOW));
}

/** Reads the entries. Blank lines and comments are skipped, because people write them. */
export async function sumsIn(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Sums> {
  const entries = new Map<ByteText, string>();
  const unreadable: number[] = [];
  let [rest, number] = ['', 0];
  for await (const piece of pieces) {
    const lines = (rest + piece.toString('latin1')).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_BYTES + 1);
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
  return line.length <= MAX_LINE_BYTES ? parseSumsLine(line) : undefined;
}
