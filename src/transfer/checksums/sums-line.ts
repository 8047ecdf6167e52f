import type { ByteText } from '../../disk/byte-text.ts';

/** A line of a checksum file: a name of its directory, and what the file must hash to. */
export interface SumsEntry {
  readonly name: ByteText;
  /** 64 lower-case hexadecimal digits. */
  readonly sha256: string;
}

/** No name holds a NUL: where one stands, the power went before the rest of the line was on disk. */
const LINE = /^(\\?)([\da-f]{64}) [ *]([^\0]+)$/i;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const MEANT: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

/**
 * Reads a line as `sha256sum` writes it (coreutils, "cksum output modes"), without its line break: `HEX  NAME`, or
 * `HEX *NAME` for binary; a backslash in front says that `\\`, `\n` and `\r` in the name are escapes. Undefined for
 * anything else. The name is as it stands: see {@link isPlainEntry}.
 */
export function parseSumsLine(line: ByteText): SumsEntry | undefined {
  const [, escaped, hex = '', written = ''] = LINE.exec(line) ?? [];
  if (escaped === undefined) return undefined;
  const name = escaped === '' ? written : unescaped(written);
  return name === undefined ? undefined : { name, sha256: hex.toLowerCase() };
}

/** Undefined where a backslash begins no escape. */
function unescaped(written: ByteText): ByteText | undefined {
  const meant = written.replace(/\\.?/gs, (pair) => MEANT[pair] ?? '\0');
  return meant.includes('\0') ? undefined : meant;
}

/** The line of an entry, its line break included. */
export function sumsLine({ name, sha256 }: SumsEntry): ByteText {
  const written = name.replace(/[\\\n\r]/g, (character) => ESCAPED[character] ?? character);
  return `${written === name ? '' : '\\'}${sha256}  ${written}\n`;
}

/**
 * Whether an entry names a file of its own directory, so that it may be opened there: no separator, not `.` or `..`,
 * not too long for any file system. What `download` refuses beyond that may stand there by `-o`, or be a user's own.
 */
export function isPlainEntry(name: ByteText): boolean {
  return name !== '.' && name !== '..' && name !== '' && name.length <= 255 && !/[/\0]/.test(name);
}
