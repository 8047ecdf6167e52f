// Reads and writes SHA256SUMS in the format of `sha256sum`.
import { constants } from 'node:fs';
import { isOneFile } from '../disk/file-name.ts';
import { readPlain } from '../disk/plain-file.ts';
import { FilingsError } from '../errors.ts';

/** The name of a directory's checksum file. */
export const SUMS_NAME = 'SHA256SUMS';

/** A line holds a hash and a name of at most 255 bytes, each of which may be escaped. */
const MAX_LINE_LENGTH = 1024;
/** Bounds the memory for a file that is no SHA256SUMS. */
const MAX_FILE_LINE = 1 << 20;

/** In latin1. Windows tools write it. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** An entry. A line with a NUL is none: a power cut leaves zeros for bytes that did not reach the disk. */
const LINE = /^(\\?)([\da-f]{64}) [ *]([^\0]+)$/i;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const UNESCAPED: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

/** The entry of a name: the hash of its last line, and where all its lines begin. */
export interface SumsEntry {
  readonly sha256: string;
  readonly offsets: readonly number[];
}

interface Sums {
  readonly entries: Map<string, SumsEntry>;
  /** The numbers of these lines, from 1. */
  readonly unreadable: readonly number[];
  /** Whether the last line has no line break. It may be cut, so it is no entry. */
  readonly isTorn: boolean;
}

/**
 * Reads a line of `sha256sum` (coreutils, "cksum output modes") without its line break: `HEX  NAME`, or `HEX *NAME` for
 * binary mode. After a backslash at its start, `\\`, `\n` and `\r` in the name are escapes. The name is not checked:
 * see {@link isPlainEntry}.
 */
export function parseSumsLine(line: string): { readonly name: string; readonly sha256: string } | undefined {
  const [, escaped, hex = '', written = ''] = LINE.exec(line) ?? [];
  if (escaped === undefined || line.length > MAX_LINE_LENGTH) return undefined;
  // An invalid escape makes the line unreadable, as a NUL does.
  const name = escaped === '' ? written : written.replace(/\\.?/gs, (pair) => UNESCAPED[pair] ?? '\0');
  return name.includes('\0') ? undefined : { name, sha256: hex.toLowerCase() };
}

/** Returns the line of an entry, with its line break. */
export function sumsLine(name: string, sha256: string): string {
  const written = name.replace(/[\\\n\r]/g, (character) => ESCAPED[character] ?? character);
  return `${written === name ? '' : '\\'}${sha256}  ${written}\n`;
}

/**
 * Returns whether an entry is the name of a file in its own directory, which may be opened. Names that `download`
 * refuses are accepted, because `-o` and other programs can create them.
 */
export function isPlainEntry(name: string, platform: string): boolean {
  return Buffer.byteLength(name) <= 255 && isOneFile(name, platform);
}

/**
 * Reads a SHA256SUMS. A file that does not exist is treated as empty. Follows no links. Blank lines and comments are
 * skipped, because people write them. `displayPath` is for messages. Throws `local_io`.
 */
export async function readSums(path: string, displayPath: string): Promise<Sums> {
  const entries: Sums['entries'] = new Map();
  const unreadable: number[] = [];
  let [rest, number, offset] = ['', 0, 0];
  const add = (bytes: string) => {
    const start = number === 0 && bytes.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    const line = bytes.slice(start).replace(/\r$/, '');
    number += 1;
    if (line !== '' && !line.startsWith('#')) {
      const entry = parseSumsLine(Buffer.from(line, 'latin1').toString());
      const { offsets = [] } = (entry && entries.get(entry.name)) ?? {};
      if (entry) entries.set(entry.name, { sha256: entry.sha256, offsets: [...offsets, offset + start] });
      else unreadable.push(number);
    }
    offset += bytes.length + 1;
  };
  for await (const piece of readPlain(path, displayPath, constants.O_NOFOLLOW)) {
    const lines = (rest + piece.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_FILE_LINE)
      throw new FilingsError('local_io', 'a line is too long', { subject: { path: displayPath } });
    for (const line of lines) add(line);
  }
  return { entries, unreadable, isTorn: rest !== '' && !rest.startsWith('#') };
}
