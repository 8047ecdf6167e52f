// The format of SHA256SUMS, which is that of `sha256sum` (coreutils, "cksum output modes"). A line is an entry,
// `HEX  NAME`, or `HEX *NAME` for binary mode. If it begins with a backslash, then `\\`, `\n` and `\r` in its name
// stand for a backslash, a line feed and a carriage return.
import { constants } from 'node:fs';
import { isDirectoryEntryName } from '../disk/file-name.ts';
import { readRegular } from '../disk/regular-file.ts';
import { FilingsError } from '../errors.ts';

/** The name of a directory's checksum file. */
export const SUMS_NAME = 'SHA256SUMS';

/** The longest name that file systems allow. */
const MAX_NAME_BYTES = 255;
/** A longer line is invalid. A hash and a name whose bytes are all escaped need less than this. */
const MAX_ENTRY_LENGTH = 1024;
/** In bytes. If more than this have arrived without a line break, reading fails: the line could fill the memory. */
const MAX_LINE_LENGTH = 1 << 20;

/** The three bytes of the UTF-8 mark as latin1 characters. Windows tools write it at the start of a file. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** A name with NUL is invalid, because a power cut leaves zero bytes where data did not reach the disk. */
const ENTRY = /^(\\?)([\da-f]{64}) [ *]([^\0]+)$/i;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const CHARACTERS: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

/** What a SHA256SUMS says about one name. */
export interface SumsEntry {
  /** The hash in the last line for this name. */
  readonly sha256: string;
  /** Where all lines for this name begin, in bytes. `download` comments them out before it replaces the named file. */
  readonly offsets: readonly number[];
}

interface Sums {
  /** Maps a name to its entry. */
  readonly entries: Map<string, SumsEntry>;
  /** The numbers of the lines that are neither entries nor comments, from 1. */
  readonly invalidLines: readonly number[];
  /** Whether the last line has no line break and is no comment. It is never an entry: a crash may have cut it off. */
  readonly endsMidLine: boolean;
}

/**
 * Parses a line without its line break. The name may be anything: check it with {@link isSafeToOpen} before it is used
 * as a path.
 */
export function parseSumsLine(line: string): { readonly name: string; readonly sha256: string } | undefined {
  // Without a backslash at the start of the line, `backslash` is ''. It is undefined only if the line does not match.
  const [, backslash, hex = '', encodedName = ''] = ENTRY.exec(line) ?? [];
  if (backslash === undefined || line.length > MAX_ENTRY_LENGTH) return undefined;
  // An invalid escape becomes a NUL, which no name contains.
  const name = backslash === '' ? encodedName : encodedName.replace(/\\.?/gs, (pair) => CHARACTERS[pair] ?? '\0');
  return name.includes('\0') ? undefined : { name, sha256: hex.toLowerCase() };
}

/** Returns the line of an entry, with its line break. */
export function formatSumsLine(name: string, sha256: string): string {
  const encodedName = name.replace(/[\\\n\r]/g, (character) => ESCAPES[character] ?? character);
  return `${encodedName === name ? '' : '\\'}${sha256}  ${encodedName}\n`;
}

/**
 * Returns whether the name of an entry can only be a file in the directory of the SHA256SUMS. Accepts names that
 * `download` refuses, because `-o` and other programs can create them.
 */
export function isSafeToOpen(name: string, platform: string): boolean {
  return Buffer.byteLength(name) <= MAX_NAME_BYTES && isDirectoryEntryName(name, platform);
}

/**
 * Reads a SHA256SUMS. A missing file is treated as empty. Refuses a symbolic link. Skips blank lines and comments.
 * `displayPath` is for messages. Throws `local_io`.
 */
export async function readSums(path: string, displayPath: string): Promise<Sums> {
  const entries: Sums['entries'] = new Map();
  const invalidLines: number[] = [];
  let [rest, lineNumber, offset] = ['', 0, 0];
  // The bytes are split into lines as latin1, in which each byte is one character. So the length of a string is its
  // number of bytes, and no character is cut at the end of a chunk. Only a whole line is decoded as UTF-8.
  const addLine = (bytes: string) => {
    const start = lineNumber === 0 && bytes.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    const line = bytes.slice(start).replace(/\r$/, '');
    lineNumber += 1;
    if (line !== '' && !line.startsWith('#')) {
      const entry = parseSumsLine(Buffer.from(line, 'latin1').toString());
      const { offsets = [] } = (entry && entries.get(entry.name)) ?? {};
      if (entry) entries.set(entry.name, { sha256: entry.sha256, offsets: [...offsets, offset + start] });
      else invalidLines.push(lineNumber);
    }
    offset += bytes.length + 1;
  };
  for await (const chunk of readRegular(path, displayPath, constants.O_NOFOLLOW)) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    // Only an unfinished line can fill the memory. A finished one over the limit is merely an invalid line.
    if (rest.length > MAX_LINE_LENGTH) {
      const hint = 'check whether it is a SHA256SUMS at all';
      throw new FilingsError('local_io', 'a line is longer than 1 MiB', { subject: { path: displayPath }, hint });
    }
    for (const line of lines) addLine(line);
  }
  // `rest` is deliberately not added: see `endsMidLine`.
  return { entries, invalidLines, endsMidLine: rest !== '' && !rest.startsWith('#') };
}
