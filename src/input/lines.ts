// Reads `--input`. Each line is an accession number, an accession number and a file name, or a record: a JSON object
// from `filings list`, `filings verify` or the `--report` of a download. The input may be larger than the memory, so it
// is read as a stream, a few lines at a time.
import { isUtf8 } from 'node:buffer';
import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { isSystemError, systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import { type AccessionNumber, asAccession, parseAccession } from '../service/accession.ts';
import { toUtf8 } from '../text.ts';
import type { World } from '../world.ts';

/** A filing or a file, from a line of `--input` or from the arguments. */
export interface Entry {
  readonly kind: 'entry';
  readonly accession: AccessionNumber;
  /** Undefined for a whole filing, whose files the options select from its listing. */
  readonly file?: string | undefined;
  /** The number of the line in the input, as editors count. Undefined for an argument. */
  readonly number?: number;
}

interface InvalidLine {
  readonly kind: 'invalid';
  readonly error: FilingsError;
  readonly number: number;
}

export type Line = Entry | InvalidLine;

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;
const LINE_FEED = 0x0a;
/** Small, so that V8 frees the lines of a chunk early. That saves 50 MB for a million lines. */
const CHUNK_BYTES = 16_384;
/** Limits a line that is not a JSON object. An object may be longer, because the service chooses its members. */
const MAX_TEXT_LENGTH = 65_536;
/**
 * Limits a JSON object. The rest of a longer line is not kept in memory. An object from `filings list` is part of a
 * response of at most 16 MiB, and its escapes may make it longer.
 */
const MAX_RECORD_BYTES = 32 << 20;
const IS_DIRECTORY = 'it is a directory';

/**
 * Opens `--input PATH`. The caller must destroy the stream, because an open stdin would keep the program running.
 * Throws `usage` if the file cannot be opened.
 */
export function openInput(
  path: string,
  { stdin, cwd }: Pick<World, 'stdin' | 'cwd'>,
  note: (message: string) => void,
): Readable {
  if (path === '-' && stdin.isTTY) note('reading accession numbers from stdin; end with Ctrl-D');
  if (path === '-' && stdin.fd !== undefined && fstatSync(stdin.fd).isDirectory()) {
    throw unreadableInput(path, new Error(IS_DIRECTORY));
  }
  const stream = path === '-' ? stdin : openStream(path, resolve(cwd, path));
  // Without a listener, an error before the first read would end the program. `readLines` throws the error later.
  stream.on('error', () => {});
  return stream;
}

function openStream(path: string, absolute: string): Readable {
  try {
    // Opening or reading a FIFO that has no writer blocks a thread of Node's pool, and nothing can cancel that. So it
    // is opened with O_NONBLOCK and read as a socket, which waits for a writer. With O_NONBLOCK, a plain
    // read would find an empty file instead.
    const fd = openSync(absolute, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const stats = fstatSync(fd);
    if (stats.isDirectory()) throw new Error(IS_DIRECTORY);
    // `createReadStream` ignores the path if there is a descriptor.
    return stats.isFIFO()
      ? new Socket({ fd, readable: true, writable: false })
      : createReadStream('', { fd, highWaterMark: CHUNK_BYTES });
  } catch (cause) {
    throw unreadableInput(path, cause);
  }
}

function unreadableInput(path: string, cause: unknown): FilingsError {
  return new FilingsError('usage', systemReason(cause), {
    subject: { name: '--input', path },
    hint: 'use a file with one filing per line, or - for stdin',
    cause,
  });
}

/**
 * Yields the lines of one chunk at a time, so that memory does not grow with the input. Throws `local_io` if the stream
 * fails.
 */
export async function* readLines(
  stream: AsyncIterable<Uint8Array | string>,
  warn: (message: string) => void,
): AsyncGenerator<readonly Line[]> {
  let number = 0;
  let isEmpty = true;
  try {
    for await (const bytes of readWholeLines(toUtf8(stream), MAX_RECORD_BYTES)) {
      const lines: Line[] = [];
      for (const text of decodeLines(bytes)) {
        number += 1;
        const line = parseLine(text, number);
        if (line === undefined) continue;
        isEmpty = false;
        if (line !== 'ignored') lines.push(line);
      }
      if (lines.length > 0) yield lines;
    }
    if (isEmpty) warn('the input has no lines');
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    throw new FilingsError('local_io', `cannot be read: ${systemReason(cause)}`, {
      subject: { name: 'the input' },
      cause,
    });
  }
}

/**
 * Yields chunks of whole lines, each without its last line feed. Of a line that continues in the next chunk, at most
 * `maxBytes + 1` bytes are kept. So a line that is too long may arrive shortened, but still longer than `maxBytes`.
 */
export async function* readWholeLines(stream: AsyncIterable<Buffer>, maxBytes: number) {
  let rest: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last >= 0) {
      yield Buffer.concat([...rest, chunk.subarray(0, last)]);
      rest = [];
      length = 0;
    }
    // Keeps at most `maxBytes + 1` bytes, including those in `rest`. A copy, because a slice would keep the whole chunk
    // in memory, and the stream may overwrite the chunk later.
    const piece = Buffer.from(chunk.subarray(last + 1, last + 2 + maxBytes - length));
    if (piece.length > 0) rest.push(piece);
    length += piece.length;
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

/** Returns the lines of a chunk. A line of invalid UTF-8 stays a Buffer, so that only this line becomes an error. */
function decodeLines(bytes: Buffer): readonly (string | Buffer)[] {
  if (isUtf8(bytes)) return bytes.toString().split('\n');
  // Latin-1 makes one character of each byte, so the bytes can be split as a string and turned back into bytes.
  const lines = bytes.toString('latin1').split('\n');
  return lines.map((text) => Buffer.from(text, 'latin1')).map((line) => (isUtf8(line) ? line.toString() : line));
}

/**
 * An error becomes an invalid line. Returns undefined for a blank line and a comment. A record that must not be
 * downloaded is `ignored` instead, because an input that has one is not empty. `trimStart` removes a byte-order mark as
 * well.
 */
function parseLine(text: string | Buffer, number: number): Line | 'ignored' | undefined {
  try {
    // `readWholeLines` may have cut an overlong line in the middle of a character. Then `text` is a Buffer, although
    // the input is valid UTF-8.
    const isOverlong = Buffer.byteLength(text) > MAX_RECORD_BYTES;
    if (typeof text !== 'string' && !isOverlong) throw new FilingsError('usage', NOT_UNICODE);
    const line = text.toString().replace(/\r$/, '').trimStart();
    if (line === '' || line.startsWith('#')) return undefined;
    // A line with nothing but `{` begins an object that spans several lines, which `LINE_MISTAKES` explains.
    const isRecord = /^\{./s.test(line);
    if (isRecord && isOverlong) throw invalidLineError(`longer than ${MAX_RECORD_BYTES} bytes`);
    if (!isRecord && line.length > MAX_TEXT_LENGTH) throw invalidLineError(`longer than ${MAX_TEXT_LENGTH} characters`);
    return isRecord ? parseRecord(line, number) : parseText(line, number);
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { kind: 'invalid', error: error.with({ subject: { line: number } }), number };
  }
}

/** Parses `ACCESSION` or `ACCESSION FILE`. */
function parseText(line: string, number: number): Line {
  const [, first = '', space = '', rest = ''] = /^(\S+)(\s*)(.*)$/s.exec(line) ?? [];
  // A `#` begins a comment, except after exactly one TAB, because `filings list` prints a TAB before a name.
  const file = rest.startsWith('#') && space !== '\t' ? '' : rest;
  const accession = asAccession(first);
  const mistake = accession ? findMistake(file, FILE_MISTAKES) : findMistake(line, LINE_MISTAKES);
  if (mistake !== undefined) throw new FilingsError('usage', mistake);
  // If `asAccession` found none, `parseAccession` throws the error that says what is wrong with it.
  return createEntry(accession ?? parseAccession(first), file, number);
}

/** Parses a JSON object on one line. */
function parseRecord(line: string, number: number): Line | 'ignored' {
  const { v, accession_no: accession, file_name: file, result } = parseObject(line);
  // `v` marks a record of this program. Some must not be downloaded: the summary that ends a report, and a file that
  // `verify --json` found to be in no SHA256SUMS, because it may be the user's own file.
  if (v !== undefined && (accession === undefined || result === 'unlisted')) return 'ignored';
  if (typeof accession !== 'string') throw invalidLineError('accession_no is not a string');
  if (file !== undefined && file !== null && typeof file !== 'string')
    throw invalidLineError('file_name is not a string');
  return createEntry(parseAccession(accession), file ?? '', number);
}

function createEntry(accession: AccessionNumber, file: string, number: number): Entry {
  return { kind: 'entry', accession, file: file === '' ? undefined : file, number };
}

function parseObject(line: string) {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw invalidLineError('invalid JSON: an object must be on one line, as jq -c prints it', cause);
  }
}

function invalidLineError(reason: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', reason, {
    hint: "a line is ACCESSION, or ACCESSION and FILE, or an object as 'filings list --json' prints it",
    cause,
  });
}

// People use lists that other programs wrote. A line with one of these common mistakes is an error that says how to
// correct the list, because otherwise the program would request a file with a nonsensical name.

const NOT_UNICODE = 'not valid UTF-8 or UTF-16';

type Mistakes = readonly (readonly [pattern: RegExp, reason: string])[];

const ENCODING_MISTAKES: Mistakes = [
  [/\r/, "the lines end with CR only: convert them with tr '\\r' '\\n'"],
  [/\0/, 'contains NUL: save the file as UTF-8, or run filings list without -0'],
  // `toUtf8` decodes invalid UTF-16 to this character. Invalid UTF-8 does not get here: `parseLine` refuses it.
  [/\ufffd/, NOT_UNICODE],
];

/** Mistakes after an accession number. */
const FILE_MISTAKES: Mistakes = [
  ...ENCODING_MISTAKES,
  [/\t/, 'has a third column: a line is ACCESSION, or ACCESSION and FILE'],
  [/^(?:\d{1,10}-\d{2}-\d{6}|\d{18})(?:[\s,;|]|$)/, 'has two accession numbers: write each on its own line'],
];

/** Mistakes of a line that does not begin with an accession number. */
const LINE_MISTAKES: Mistakes = [
  ...ENCODING_MISTAKES,
  [
    /^(?:\{|[\]}],?|"(?:[^"\\]|\\.)*"\s*:.*|\[)\s*$/,
    'part of JSON that spans several lines: print one object per line with jq -c',
  ],
  [/^\[/, "a JSON array: print one object per line with jq -c '.[]'"],
  [/^["']?\d[.,]?\d*e\+?\d+\b/i, 'a number rounded by a spreadsheet: format the column as text, and export it again'],
  [/^["']/, 'quoted: remove the quotes (jq -r prints none)'],
  [/^[\d-]{18,20}\s*[,;|]/, 'no white space between the columns: separate them by a TAB'],
];

function findMistake(text: string, mistakes: Mistakes): string | undefined {
  return mistakes.find(([pattern]) => pattern.test(text))?.[1];
}

/**
 * Returns why a string cannot stand as a file name after an accession number, or undefined if it can. Used before a
 * line `ACCESSION FILE` is written for a later `--input`.
 */
export function findFileMistake(file: string): string | undefined {
  return findMistake(file, FILE_MISTAKES);
}
