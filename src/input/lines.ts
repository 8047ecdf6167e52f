// Reads `--input`: accession numbers, names of files and records of other commands, a line each. The input may be
// larger than the memory, so it is read as a stream, a few lines at a time.
import { isUtf8 } from 'node:buffer';
import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { isSystemError, systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type AccessionNumber, accessionIn, parseAccession } from '../service/accession.ts';
import type { World } from '../world.ts';
import { asUtf8 } from './utf16.ts';

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

/** A record that names no file to download: a summary, or one of `verify` with this result. */
interface IgnoredRecord {
  readonly kind: 'ignored';
  readonly result?: string;
}

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;
const LINE_FEED = 0x0a;
/** V8 collects the lines of a small chunk while they are young, which saves 50 MB for a million lines. */
const CHUNK_BYTES = 16_384;
/** A longer line is invalid, and is skipped without being kept in memory. */
const MAX_LINE_BYTES = 65_536;
const IS_DIRECTORY = 'it is a directory';
/** Results of `verify` for files that are not missing. */
const IGNORED_RESULTS = ['unlisted', 'damaged', 'torn'];
const VERIFY_MEMBERS = ['v', 'path', 'result', 'accession_no', 'file_name'];

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
    hint: 'name a file with a line for each filing, or - for stdin',
    cause,
  });
}

/**
 * Yields the lines of one chunk at a time, so that memory does not grow with the input. Calls `warn` for the first
 * ignored record of each kind and for an input without any line. Throws `local_io` if the stream fails.
 */
export async function* readLines(
  stream: AsyncIterable<Uint8Array | string>,
  warn: (message: string) => void,
): AsyncGenerator<readonly Line[]> {
  const warned = new Set<string>();
  let number = 0;
  let isEmpty = true;
  try {
    for await (const bytes of readWholeLines(asUtf8(stream), MAX_LINE_BYTES)) {
      const lines: Line[] = [];
      for (const text of decodeLines(bytes)) {
        number += 1;
        const line = parseLine(text, number);
        if (line === undefined) continue;
        isEmpty = false;
        if (line.kind !== 'ignored') lines.push(line);
        else if (line.result !== undefined && !warned.has(line.result)) {
          warned.add(line.result);
          warn(`--input: line ${number} and others like it are ignored: the result is '${line.result}'`);
        }
      }
      if (lines.length > 0) yield lines;
    }
    if (isEmpty) warn('warning: the input has no lines');
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
export async function* readWholeLines(stream: AsyncIterable<Uint8Array | string>, maxBytes: number) {
  let rest = Buffer.alloc(0);
  for await (const bytes of stream) {
    const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes as Uint8Array);
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last >= 0) {
      yield Buffer.concat([rest, chunk.subarray(0, last)]);
      rest = Buffer.alloc(0);
    }
    // Makes a copy, because a slice would keep the whole chunk in memory, and the stream may reuse the chunk.
    if (rest.length <= maxBytes) rest = Buffer.concat([rest, chunk.subarray(last + 1)]).subarray(0, maxBytes + 1);
  }
  if (rest.length > 0) yield rest;
}

/** Returns the lines of a chunk. A line that is not UTF-8 stays a Buffer. */
function decodeLines(bytes: Buffer): readonly (string | Buffer)[] {
  if (isUtf8(bytes)) return bytes.toString().split('\n');
  const lines = bytes.toString('latin1').split('\n');
  return lines.map((text) => Buffer.from(text, 'latin1')).map((line) => (isUtf8(line) ? line.toString() : line));
}

/** Returns undefined for a blank line and a comment. A byte-order mark counts as white space. */
function parseLine(text: string | Buffer, number: number): Line | IgnoredRecord | undefined {
  try {
    // A UTF-16 unit takes at most three bytes.
    if (text.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(text) > MAX_LINE_BYTES) {
      throw invalidLine(`longer than ${MAX_LINE_BYTES} bytes`);
    }
    if (typeof text !== 'string') throw invalidLine('not valid UTF-8 or UTF-16');
    const line = text.replace(/\r$/, '').trimStart();
    if (line === '' || line.startsWith('#')) return undefined;
    return line.startsWith('{') ? parseRecord(line, number) : parseText(line, number);
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { kind: 'bad', error: error.with({ subject: { line: number } }), number };
  }
}

function parseText(line: string, number: number): Line {
  const [, first = '', file = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
  return createEntry(parseAccession(first), file, number);
}

function parseRecord(line: string, number: number): Line | IgnoredRecord {
  const record = parseObject(line);
  const { accession_no: accession, file_name: file, result, summary } = record;
  if (typeof result === 'string' && IGNORED_RESULTS.includes(result) && isVerifyRecord(record)) {
    return { kind: 'ignored', result };
  }
  if (typeof summary === 'object' && accession === undefined) return { kind: 'ignored' };
  if (typeof accession !== 'string') throw invalidLine('accession_no is not a string');
  if (file !== undefined && file !== null && typeof file !== 'string') throw invalidLine('file_name is not a string');
  return createEntry(parseAccession(accession), file ?? '', number);
}

/**
 * Returns whether a record is one of `verify`. A record of `list --json` may have the same members, because the service
 * chooses them. `verify` writes the version first, `list` the accession number. If another program has changed the
 * order, a record of `verify` has only its own members, and its names are those in its path.
 */
function isVerifyRecord(record: JsonObject): boolean {
  const { v, path, accession_no: accession, file_name: file } = record;
  if (typeof v !== 'number' || typeof path !== 'string') return false;
  const members = Object.keys(record);
  if (members[0] === 'v') return true;
  const directories = path.split('/');
  const isNamed = directories.pop() === file && directories.map(accessionIn).findLast(Boolean) === accession;
  return members.every((member) => VERIFY_MEMBERS.includes(member)) && (accession === undefined || isNamed);
}

function createEntry(accession: AccessionNumber, file: string, number: number): Entry {
  return { kind: 'entry', accession, file: file === '' ? undefined : file, number };
}

function parseObject(line: string): JsonObject {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw invalidLine('broken JSON', cause);
  }
}

function invalidLine(reason: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', reason, {
    hint: "a line is ACCESSION, or ACCESSION and FILE, or an object as 'filings list --json' prints it",
    cause,
  });
}
