// Reads `--input`: accession numbers, names of files and records of other commands, a line each. The input may be
// larger than the memory, so it is read as a stream, a few lines at a time.

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

/** A filing or file that a line of `--input` or an argument names. */
export interface Entry {
  readonly kind: 'entry';
  readonly accession: AccessionNumber;
  /** Undefined if the options select the files from the listing. */
  readonly file?: string | undefined;
  /** The number of the line, from 1. Blank lines count. Undefined for an argument. */
  readonly number?: number;
}

interface BadLine {
  readonly kind: 'bad';
  readonly error: FilingsError;
  readonly number: number;
}

export type Line = Entry | BadLine;

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;
const LINE_FEED = 0x0a;
/** V8 collects the lines of a small chunk while they are young, which saves 50 MB for a million lines. */
const CHUNK_BYTES = 16_384;
/** Only a record may be longer, because the service chooses its members. */
const MAX_TEXT_LENGTH = 65_536;
/** A longer line is invalid, and is skipped without being kept in memory. A whole listing has at most half of it. */
const MAX_RECORD_BYTES = 32 << 20;
const IS_DIRECTORY = 'it is a directory';

/**
 * Returns the stream of `--input PATH`. The caller must destroy it, because an idle stdin would keep the program alive.
 * Throws `usage` if it cannot be opened.
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
  // Without a listener, an error before the first read would end the program.
  stream.on('error', () => {});
  return stream;
}

function openStream(path: string, absolute: string): Readable {
  try {
    // The file is opened without blocking and read as a socket, because a FIFO without a writer would block a thread of
    // the pool, which cannot be cancelled.
    const fd = openSync(absolute, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const stats = fstatSync(fd);
    if (stats.isDirectory()) throw new Error(IS_DIRECTORY);
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
    hint: 'give a file with one filing per line, or - for stdin',
    cause,
  });
}

/**
 * Yields the lines of one chunk at a time, so that memory does not grow with the input. Calls `warn` for an input
 * without any line. Throws `local_io` if the stream fails.
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
 * Yields a stream in chunks of whole lines, without the last line feed of each. Of a line that is longer than
 * `maxBytes` only its first `maxBytes + 1` bytes are kept.
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
    // Makes a copy, because a slice would keep the whole chunk in memory, and the stream may reuse the chunk.
    const piece = Buffer.from(chunk.subarray(last + 1, last + 2 + maxBytes - length));
    if (piece.length > 0) rest.push(piece);
    length += piece.length;
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

/** Returns the lines of a chunk. A line that is not UTF-8 stays a Buffer. */
function decodeLines(bytes: Buffer): readonly (string | Buffer)[] {
  if (isUtf8(bytes)) return bytes.toString().split('\n');
  const lines = bytes.toString('latin1').split('\n');
  return lines.map((text) => Buffer.from(text, 'latin1')).map((line) => (isUtf8(line) ? line.toString() : line));
}

/** Returns undefined for a blank line and a comment. A byte-order mark is treated as white space. */
function parseLine(text: string | Buffer, number: number): Line | 'ignored' | undefined {
  try {
    if (typeof text !== 'string') throw new FilingsError('usage', NOT_UNICODE);
    const line = text.replace(/\r$/, '').trimStart();
    if (line === '' || line.startsWith('#')) return undefined;
    const isRecord = /^\{./s.test(line);
    const maxLength = isRecord ? MAX_RECORD_BYTES : MAX_TEXT_LENGTH;
    if (line.length > maxLength) throw invalidLine(`longer than ${maxLength} characters`);
    return isRecord ? parseRecord(line, number) : parseText(line, number);
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { kind: 'bad', error: error.with({ subject: { line: number } }), number };
  }
}

/** A `#` begins a comment, except after exactly one TAB: `filings list` prints a TAB before a name. */
function parseText(line: string, number: number): Line {
  const [, first = '', space = '', rest = ''] = /^(\S+)(\s*)(.*)$/s.exec(line) ?? [];
  const file = rest.startsWith('#') && space !== '\t' ? '' : rest;
  const accession = asAccession(first);
  const mistake = accession ? findMistake(file, FILE_MISTAKES) : findMistake(line, LINE_MISTAKES);
  if (mistake !== undefined) throw new FilingsError('usage', mistake);
  return createEntry(accession ?? parseAccession(first), file, number);
}

function parseRecord(line: string, number: number): Line | 'ignored' {
  const { v, accession_no: accession, file_name: file, result } = parseObject(line);
  // Records of `verify --json` that name nothing to download: a summary, and an unlisted file, which may be the user's.
  if (v !== undefined && (accession === undefined || result === 'unlisted')) return 'ignored';
  if (typeof accession !== 'string') throw invalidLine('accession_no is not a string');
  if (file !== undefined && file !== null && typeof file !== 'string') throw invalidLine('file_name is not a string');
  return createEntry(parseAccession(accession), file ?? '', number);
}

function createEntry(accession: AccessionNumber, file: string, number: number): Entry {
  return { kind: 'entry', accession, file: file === '' ? undefined : file, number };
}

function parseObject(line: string) {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw invalidLine('broken JSON: an object must be on one line, as jq -c prints it', cause);
  }
}

function invalidLine(reason: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', reason, {
    hint: "a line is ACCESSION, or ACCESSION and FILE, or an object as 'filings list --json' prints it",
    cause,
  });
}

// People bring lists of other programs. Each common mistake gets a sentence that says what was meant, and no line that
// looks like one is requested as the name of a file.

const NOT_UNICODE = 'not valid UTF-8 or UTF-16';

type Mistakes = readonly (readonly [pattern: RegExp, sentence: string])[];

const FILE_MISTAKES: Mistakes = [
  [/\r/, "the lines end with CR alone: convert them with tr '\\r' '\\n'"],
  [/\0/, 'NUL characters inside: each line must end with a line feed (no -0, no UTF-16 without a mark)'],
  [/\ufffd/, NOT_UNICODE],
  [/\t/, 'a third column: a line has only ACCESSION and FILE'],
  [/^(?:\d{1,10}-\d{2}-\d{6}|\d{18})(?:[\s,;|]|$)/, 'two accession numbers: write each on its own line'],
];

const LINE_MISTAKES: Mistakes = [
  ...FILE_MISTAKES.slice(0, 3),
  [
    /^(?:\{|[\]}],?|"(?:[^"\\]|\\.)*"\s*:.*|\[)\s*$/,
    'part of a JSON text over several lines: print one object per line with jq -c',
  ],
  [/^\[/, "a JSON array: print one object per line with jq -c '.[]'"],
  [/^["']?\d[.,]?\d*e\+?\d+\b/i, 'a number rounded by a spreadsheet: format the column as text, and export it again'],
  [/^["']/, 'quoted: write the accession number without quotes (jq -r prints none)'],
  [/^[\d-]{18,20}\s*[,;|]/, 'columns without white space between them: write a TAB after the accession number'],
];

function findMistake(text: string, mistakes: Mistakes): string | undefined {
  return mistakes.find(([pattern]) => pattern.test(text))?.[1];
}

/** Returns what is wrong with the text after an accession number, if it cannot be the name of a file. */
export function mistakeInFile(file: string): string | undefined {
  return findMistake(file, FILE_MISTAKES);
}
