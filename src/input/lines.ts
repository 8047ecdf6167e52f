// Reads `--input`. It may be larger than the memory, so it is read as a stream, a few lines at a time.
import { isUtf8 } from 'node:buffer';
import { fstatSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { isSystemError, systemReason } from '../disk/failure.ts';
import { openStream } from '../disk/open-stream.ts';
import { FilingsError } from '../errors.ts';
import { isJsonObject, parseJson } from '../json.ts';
import { type AccessionNumber, accessionError, asAccession, parseAccession } from '../service/accession.ts';
import { toUtf8 } from '../text.ts';
import type { World } from '../world.ts';

/** An entry comes from a line of `--input` or from the arguments. */
export interface Entry {
  readonly kind: 'entry';
  readonly accession: AccessionNumber;
  /** Undefined for a whole filing, whose files the options select from its listing. */
  readonly file?: string | undefined;
  /** The number of the line, as editors count. Undefined for an argument. */
  readonly number?: number;
}

interface InvalidLine {
  readonly kind: 'invalid';
  readonly error: FilingsError;
  readonly number: number;
}

export type Line = Entry | InvalidLine;

const LINE_FEED = 0x0a;
/** Small, so that V8 frees the lines of a chunk early. That saves 50 MB for a million lines. */
const CHUNK_BYTES = 16_384;
/** The limit of a line that is not a JSON object. An object may be longer, because the service chooses its members. */
const MAX_TEXT_LENGTH = 65_536;
/**
 * The rest of a longer line is not kept in memory. An object from `filings list` is part of a response of at most 16
 * MiB, and its escapes may make it longer.
 */
const MAX_RECORD_BYTES = 32 << 20;
/** An empty line or a comment. White space includes a byte-order mark. */
const BLANK = /^\s*(?:#|$)/;
const IS_DIRECTORY = 'it is a directory';

/** The caller must destroy the stream, because an open stdin would keep the program running. */
export function openInput(
  path: string,
  { stdin, cwd }: Pick<World, 'stdin' | 'cwd'>,
  note: (message: string) => void,
): Readable {
  if (path === '-' && stdin.isTTY) note('reading accession numbers from stdin; end with Ctrl-D');
  if (path === '-' && stdin.fd !== undefined && fstatSync(stdin.fd).isDirectory()) {
    throw unreadableInput(path, new Error(IS_DIRECTORY));
  }
  const stream = path === '-' ? stdin : openFile(path, cwd);
  // Without a listener, an error before the first read would end the program. `readLines` throws it later.
  stream.on('error', () => {});
  return stream;
}

function openFile(path: string, cwd: string): Readable {
  try {
    const { stats, stream } = openStream(resolve(cwd, path), { highWaterMark: CHUNK_BYTES });
    if (!stats.isDirectory()) return stream;
    stream.destroy();
    throw new Error(IS_DIRECTORY);
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

/** The lines of one chunk at a time, so that memory does not grow with the input. */
export async function* readLines(
  stream: AsyncIterable<Uint8Array | string>,
  warn: (message: string) => void,
): AsyncGenerator<readonly Line[]> {
  let number = 0;
  let isEmpty = true;
  // Many consecutive lines are about the same filing, and its number need not be parsed again.
  let last: AccessionNumber | undefined;
  try {
    for await (const bytes of readWholeLines(toUtf8(stream), MAX_RECORD_BYTES)) {
      const lines: Line[] = [];
      for (const text of decodeLines(bytes)) {
        number += 1;
        // A record that must not be downloaded is a line, too.
        isEmpty &&= typeof text === 'string' && BLANK.test(text);
        const line = parseLine(text, number, last);
        if (line === undefined) continue;
        if (line.kind === 'entry') last = line.accession;
        lines.push(line);
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
 * Each chunk lacks its last line feed. A line that is too long may arrive shortened, but still longer than `maxBytes`.
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
    // A copy, because a slice would keep the whole chunk in memory, and the stream may overwrite it later.
    const piece = Buffer.from(chunk.subarray(last + 1, last + 2 + maxBytes - length));
    if (piece.length > 0) rest.push(piece);
    length += piece.length;
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

/** A line of invalid UTF-8 stays a Buffer, so that only this line becomes an error. */
function decodeLines(bytes: Buffer): readonly (string | Buffer)[] {
  if (isUtf8(bytes)) return bytes.toString().split('\n');
  // Latin-1 makes one character of each byte.
  const lines = bytes.toString('latin1').split('\n');
  return lines.map((text) => Buffer.from(text, 'latin1')).map((line) => (isUtf8(line) ? line.toString() : line));
}

/** Undefined if there is nothing to download. `trimStart` removes a byte-order mark as well. */
function parseLine(text: string | Buffer, number: number, last?: AccessionNumber): Line | undefined {
  try {
    // `readWholeLines` may have cut an overlong line in the middle of a character.
    const isOverlong = Buffer.byteLength(text) > MAX_RECORD_BYTES;
    if (typeof text !== 'string' && !isOverlong) throw new FilingsError('usage', NOT_UNICODE);
    const line = text.toString().replace(/\r$/, '').trimStart();
    if (BLANK.test(line)) return undefined;
    // A line with nothing but `{` begins an object that spans several lines, which `LINE_MISTAKES` explains.
    const isRecord = /^\{./s.test(line);
    if (isRecord && isOverlong) throw invalidLineError(`longer than ${MAX_RECORD_BYTES} bytes`);
    if (!isRecord && line.length > MAX_TEXT_LENGTH) throw invalidLineError(`longer than ${MAX_TEXT_LENGTH} characters`);
    return isRecord ? parseRecord(line, number) : parseText(line, number, last);
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { kind: 'invalid', error: error.with({ subject: { line: number } }), number };
  }
}

function parseText(line: string, number: number, last?: AccessionNumber): Line {
  const [, first = '', space = '', rest = ''] = /^(\S+)(\s*)(.*)$/s.exec(line) ?? [];
  // A `#` begins a comment, except after exactly one TAB, because `filings list` prints a TAB before a name.
  const file = rest.startsWith('#') && space !== '\t' ? '' : rest;
  const accession = first === last ? last : asAccession(first);
  const mistake = accession ? findMistake(file, FILE_MISTAKES) : findMistake(line, LINE_MISTAKES);
  if (mistake !== undefined) throw new FilingsError('usage', mistake);
  if (accession !== undefined) return createEntry(accession, file, number);
  const error = accessionError(first, file === '' ? [] : [file]);
  throw error.with({ hint: `${error.hint} (if 'filings list' printed the line, add --json to it)` });
}

function parseRecord(line: string, number: number): Line | undefined {
  const record = parseJson(line);
  if (!isJsonObject(record)) throw invalidLineError('invalid JSON: an object must be on one line, as jq -c prints it');
  const { v, accession_no: accession, file_name: file, result } = record;
  // `v` marks a record of this program. Some must not be downloaded: the summary of a report, and a file that `verify`
  // found in no SHA256SUMS, because it may be the user's own.
  if (v !== undefined && (accession === undefined || result === 'unlisted')) return undefined;
  if (typeof accession !== 'string') throw invalidLineError('accession_no is not a string');
  if (file !== undefined && file !== null && typeof file !== 'string')
    throw invalidLineError('file_name is not a string');
  return createEntry(parseAccession(accession), file ?? '', number);
}

function createEntry(accession: AccessionNumber, file: string, number: number): Entry {
  return { kind: 'entry', accession, file: file === '' ? undefined : file, number };
}

function invalidLineError(reason: string): FilingsError {
  const hint = "a line is ACCESSION, or ACCESSION and FILE, or an object as 'filings list --json' prints it";
  return new FilingsError('usage', reason, { hint });
}

// People use lists that other programs wrote. Without these, the program would request a file with a nonsensical name.

const NOT_UNICODE = 'not valid UTF-8 or UTF-16';

type Mistakes = readonly (readonly [pattern: RegExp, reason: string])[];

const ENCODING_MISTAKES: Mistakes = [
  [/\r/, "the lines end with CR only: convert them with tr '\\r' '\\n'"],
  [/\0/, 'contains NUL: save the file as UTF-8, or run filings list without -0'],
  // `toUtf8` decodes invalid UTF-16 to this character. `parseLine` refuses invalid UTF-8.
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

/** Used before a line `ACCESSION FILE` is written for a later `--input`. */
export function findFileMistake(file: string): string | undefined {
  return findMistake(file, FILE_MISTAKES);
}
