// The format of SHA256SUMS, which is that of `sha256sum` (coreutils, "cksum output modes"). A line is an entry,
// `HEX  NAME`, or `HEX *NAME` for binary mode. If it begins with a backslash, then `\\`, `\n` and `\r` in its name
// stand for a backslash, a line feed and a carriage return.
import { constants } from 'node:fs';
import { readRegular } from '../disk/open-file.ts';
import { digestOf } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';

export const SUMS_NAME = 'SHA256SUMS';

/** A longer line is invalid. A hash and a name whose bytes are all escaped need less than this. */
const MAX_ENTRY_LENGTH = 1024;
/** In bytes. A longer line could fill the memory, so reading fails. */
const MAX_LINE_LENGTH = 1 << 20;

/** The three bytes of the UTF-8 mark as latin1 characters. Windows tools write it at the start of a file. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** A name with NUL is invalid, because a power cut leaves zero bytes where data did not reach the disk. */
const ENTRY = /^(\\?)([\da-f]{64}) [ *]([^\0]+)$/i;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const CHARACTERS: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

export interface SumsEntry {
  readonly name: string;
  readonly sha256: string;
}

/** A line that is neither blank nor a comment. */
export interface SumsLine {
  /** From 1. */
  readonly number: number;
  /** Where the line begins, in bytes. */
  readonly offset: number;
  /** Undefined if the line is no valid entry. */
  readonly entry: SumsEntry | undefined;
  /** Whether the line break is missing. Then a crash may have cut it off, so it is never an entry. */
  readonly isTorn: boolean;
}

/**
 * Parses a line without its line break. The name may be anything: check it with `isDirectoryEntryName` before it is
 * used as a path.
 */
export function parseSumsLine(line: string): SumsEntry | undefined {
  // Without a backslash at the start of the line, `backslash` is ''. It is undefined only if the line does not match.
  const [, backslash, hex = '', encodedName = ''] = ENTRY.exec(line) ?? [];
  if (backslash === undefined || line.length > MAX_ENTRY_LENGTH) return undefined;
  // An invalid escape becomes a NUL, which no name contains.
  const name = backslash === '' ? encodedName : encodedName.replace(/\\.?/gs, (pair) => CHARACTERS[pair] ?? '\0');
  return name.includes('\0') ? undefined : { name, sha256: hex.toLowerCase() };
}

/** With the line break. */
export function formatSumsLine(name: string, sha256: string): string {
  const encodedName = name.replace(/[\\\n\r]/g, (character) => ESCAPES[character] ?? character);
  return `${encodedName === name ? '' : '\\'}${sha256}  ${encodedName}\n`;
}

/** Splits the bytes of a SHA256SUMS into lines. `displayPath` is for messages. */
export class SumsParser {
  /** The length of the whole lines so far. */
  parsedBytes = 0;
  readonly #displayPath: string;
  /**
   * The bytes behind `parsedBytes`, as latin1: so a length is a number of bytes, and no character is cut at the end of
   * a chunk. Only a whole line is decoded as UTF-8.
   */
  #rest = '';
  #number = 0;

  constructor(displayPath: string) {
    this.#displayPath = displayPath;
  }

  /** Returns the lines that end in the next bytes of the file. Throws `integrity` for a line over 1 MiB. */
  add(bytes: Buffer): readonly SumsLine[] {
    const lines = (this.#rest + bytes.toString('latin1')).split('\n');
    // Only the first and the last can be longer than a chunk.
    if ([lines[0], lines.at(-1)].some((line = '') => line.length > MAX_LINE_LENGTH)) {
      const hint = 'check whether it is a SHA256SUMS at all';
      throw new FilingsError('integrity', 'a line is longer than 1 MiB', {
        subject: { path: this.#displayPath },
        hint,
      });
    }
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#toLines(line, false));
  }

  /** Returns the last line if its line break is missing. */
  finish(): readonly SumsLine[] {
    return this.#toLines(this.#rest, true);
  }

  /** Forgets the bytes behind `parsedBytes`, so that they can be added again. */
  rewind(): void {
    this.#rest = '';
  }

  /** Returns nothing for a blank line or a comment. */
  #toLines(bytes: string, isTorn: boolean): readonly SumsLine[] {
    const start = this.parsedBytes === 0 && bytes.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    const line = bytes.slice(start).replace(/\r$/, '');
    const offset = this.parsedBytes + start;
    this.#number += 1;
    this.parsedBytes += bytes.length + 1;
    if (line === '' || line.startsWith('#')) return [];
    const entry = isTorn ? undefined : parseSumsLine(Buffer.from(line, 'latin1').toString());
    return [{ number: this.#number, offset, entry, isTorn }];
  }
}

/** A missing file has no lines. Refuses a symbolic link. */
export async function* readSums(path: string, displayPath: string): AsyncGenerator<readonly SumsLine[]> {
  const parser = new SumsParser(displayPath);
  for await (const chunk of readRegular(path, displayPath, constants.O_NOFOLLOW)) yield parser.add(chunk);
  yield parser.finish();
}

/**
 * The offsets of the entries of each name, in their order. The last one applies, and nearly all names have only one.
 * Keys are `digestOf(name)`, because no more than 250 bytes of memory are promised for an entry.
 */
export class SumsIndex {
  readonly #offsets = new Map<string, number | number[]>();

  /** Lines must be added in the order of the file. */
  add(lines: readonly SumsLine[]): void {
    for (const { entry, offset } of lines) {
      if (!entry) continue;
      const key = digestOf(entry.name);
      const known = this.#offsets.get(key);
      if (typeof known === 'object') known.push(offset);
      else this.#offsets.set(key, known === undefined ? offset : [known, offset]);
    }
  }

  find(name: string): readonly number[] {
    const known = this.#offsets.get(digestOf(name)) ?? [];
    return typeof known === 'number' ? [known] : known;
  }

  remove(name: string, offsets: readonly number[]): void {
    const removed = new Set(offsets);
    const rest = this.find(name).filter((offset) => !removed.has(offset));
    if (rest.length === 0) this.#offsets.delete(digestOf(name));
    else this.#offsets.set(digestOf(name), rest);
  }
}
