import { constants } from 'node:fs';
import type { ByteText } from '../disk/byte-text.ts';
import { readPlain } from '../disk/plain-file.ts';

/** The file that lists a directory's files, as `sha256sum` writes it. */
export const SUMS_NAME = 'SHA256SUMS';

/** The longest line that can be one: hash, and a name of 255 bytes, each escaped. */
const LONGEST_LINE = 1024;

/** No name holds a NUL: where one stands, the power went before the rest of the line was on disk. */
const LINE = /^(\\?)([\da-f]{64}) [ *]([^\0]+)$/i;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const MEANT: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

/** A line of a checksum file: a name of its directory, and what the file must hash to. */
export interface SumsEntry {
  readonly name: ByteText;
  /** 64 lower-case hexadecimal digits. */
  readonly sha256: string;
}

/** A line that is not blank and no comment; without an entry it is unreadable. */
export interface SumsLine {
  /** From 1. */
  readonly number: number;
  readonly entry: SumsEntry | undefined;
  /** False for a last line that no line break ends, so that it may be torn. */
  readonly ended: boolean;
}

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

/**
 * The lines of a checksum file, some at a time; nothing of a file that does not exist. No link is followed, no FIFO
 * waited for. `shown` is its path for people. Throws `local_io`.
 */
export async function* readSums(path: string | Buffer, shown: string): AsyncGenerator<readonly SumsLine[]> {
  yield* linesOf(readPlain(path, shown, constants.O_NOFOLLOW));
}

/** The lines of a text that comes in pieces; no more than one line is held. */
export async function* linesOf(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<readonly SumsLine[]> {
  let [rest, number] = ['', 0];
  for await (const piece of pieces) {
    const texts = piece.toString('latin1').split('\n');
    texts[0] = rest + texts[0];
    rest = texts.pop() ?? '';
    // Whatever follows, this is none.
    if (rest.length > LONGEST_LINE) rest = rest.slice(0, LONGEST_LINE + 1);
    const lines: SumsLine[] = [];
    for (const text of texts) {
      number += 1;
      if (!isBlank(text))
        lines.push({ number, entry: entryOf(text.endsWith('\r') ? text.slice(0, -1) : text), ended: true });
    }
    yield lines;
  }
  if (!isBlank(rest)) yield [{ number: number + 1, entry: entryOf(rest), ended: false }];
}

/** Empty lines come of appends after a torn line, comments of people; neither is a fault. */
function isBlank(text: ByteText): boolean {
  return text === '' || text === '\r' || text.startsWith('#');
}

function entryOf(text: ByteText): SumsEntry | undefined {
  return text.length <= LONGEST_LINE ? parseSumsLine(text) : undefined;
}
