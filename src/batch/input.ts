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

/** A line of `--input`, or what an argument names. */
export interface Entry {
  readonly kind: 'entry';
  readonly accession: AccessionNumber;
  /** Undefined: what the options choose from the listing. */
  readonly file?: string | undefined;
  /** From 1, blank lines counted. */
  readonly number?: number;
}

interface BadLine {
  readonly kind: 'bad';
  readonly error: FilingsError;
  readonly number: number;
}

export type Line = Entry | BadLine;

/** A record that asks for no file: a summary, or one of `verify` with this result. */
interface Ignored {
  readonly kind: 'ignored';
  readonly result?: string;
}

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;
const LINE_FEED = 0x0a;
/** So few lines are garbage before V8 takes them for old: a million lines take 50 MB less. */
const BYTES_AT_ONCE = 16_384;
/** A longer line is bad, and passed over without being kept. */
const MAX_LINE = 65_536;
const IS_DIRECTORY = 'it is a directory';
/** Results of `verify` for what is not missing. */
const NOT_TO_FETCH = ['unlisted', 'damaged', 'torn'];
const VERIFY_MEMBERS = ['v', 'path', 'result', 'accession_no', 'file_name'];

/** Whoever reads destroys it: an idle stdin would keep the program alive. Throws `usage`. */
export function openInput(
  path: string,
  { stdin, cwd }: Pick<World, 'stdin' | 'cwd'>,
  note: (message: string) => void,
): Readable {
  if (path === '-' && stdin.isTTY) note('reading accession numbers from stdin; end with Ctrl-D');
  if (path === '-' && stdin.fd !== undefined && fstatSync(stdin.fd).isDirectory()) {
    throw unreadable(path, new Error(IS_DIRECTORY));
  }
  const stream = path === '-' ? stdin : streamOf(path, resolve(cwd, path));
  // An error that comes before anybody reads must not end the program.
  stream.on('error', () => {});
  return stream;
}

function streamOf(path: string, absolute: string): Readable {
  try {
    // A FIFO that nobody writes would hold a thread of the pool, which nothing can call back.
    const fd = openSync(absolute, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const stats = fstatSync(fd);
    if (stats.isDirectory()) throw new Error(IS_DIRECTORY);
    return stats.isFIFO()
      ? new Socket({ fd, readable: true, writable: false })
      : createReadStream('', { fd, highWaterMark: BYTES_AT_ONCE });
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): FilingsError {
  return new FilingsError('usage', systemReason(cause), {
    subject: { name: '--input', path },
    hint: 'name a file with a line for each filing, or - for stdin',
    cause,
  });
}

/**
 * Yields the lines of a chunk at a time: memory does not grow with the input. Warns of the first record of each kind
 * that is ignored, and of an input without any line. Throws `local_io` if the stream fails.
 */
export async function* readLines(
  stream: AsyncIterable<Uint8Array | string>,
  warn: (message: string) => void,
): AsyncGenerator<readonly Line[]> {
  const warned = new Set<string>();
  let number = 0;
  let isEmpty = true;
  try {
    for await (const bytes of wholeLines(asUtf8(stream), MAX_LINE)) {
      const lines: Line[] = [];
      for (const text of textsOf(bytes)) {
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

/** Cuts a stream behind its line feeds, these left out; of a line that is too long no more than shows that is kept. */
export async function* wholeLines(stream: AsyncIterable<Uint8Array | string>, longest: number) {
  let rest = Buffer.alloc(0);
  for await (const bytes of stream) {
    const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes as Uint8Array);
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last >= 0) {
      yield Buffer.concat([rest, chunk.subarray(0, last)]);
      rest = Buffer.alloc(0);
    }
    // The rest would hold all of the chunk, and may be overwritten by the next one.
    if (rest.length <= longest) rest = Buffer.concat([rest, chunk.subarray(last + 1)]).subarray(0, longest + 1);
  }
  if (rest.length > 0) yield rest;
}

/** What is not UTF-8 stays bytes. */
function textsOf(bytes: Buffer): readonly (string | Buffer)[] {
  if (isUtf8(bytes)) return bytes.toString().split('\n');
  const lines = bytes.toString('latin1').split('\n');
  return lines.map((text) => Buffer.from(text, 'latin1')).map((line) => (isUtf8(line) ? line.toString() : line));
}

/** Returns undefined for a blank line and a comment. A byte-order mark counts as white space. */
function parseLine(text: string | Buffer, number: number): Line | Ignored | undefined {
  try {
    // A UTF-16 unit takes at most three bytes.
    if (text.length * 3 > MAX_LINE && Buffer.byteLength(text) > MAX_LINE) {
      throw invalid(`longer than ${MAX_LINE} bytes`);
    }
    if (typeof text !== 'string') throw invalid('not valid UTF-8 or UTF-16');
    const line = text.replace(/\r$/, '').trimStart();
    if (line === '' || line.startsWith('#')) return undefined;
    return line.startsWith('{') ? fromJson(line, number) : fromText(line, number);
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { kind: 'bad', error: error.with({ subject: { line: number } }), number };
  }
}

function fromText(line: string, number: number): Line {
  const [, first = '', file = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
  return entry(parseAccession(first), file, number);
}

function fromJson(line: string, number: number): Line | Ignored {
  const record = parsedObject(line);
  const { accession_no: accession, file_name: file, result, summary } = record;
  if (typeof result === 'string' && NOT_TO_FETCH.includes(result) && isOfVerify(record)) {
    return { kind: 'ignored', result };
  }
  if (typeof summary === 'object' && accession === undefined) return { kind: 'ignored' };
  if (typeof accession !== 'string') throw invalid('accession_no is not a string');
  if (file !== undefined && file !== null && typeof file !== 'string') throw invalid('file_name is not a string');
  return entry(parseAccession(accession), file ?? '', number);
}

/**
 * Tells a record of `verify` from one of `list --json`, in which the service may have put any members, these too.
 * `verify` writes the version first, `list` the accession number. In another order, as a program between the two may
 * have made it, a record of `verify` has no member but its own, and its names are those in the path.
 */
function isOfVerify(record: JsonObject): boolean {
  const { v, path, accession_no: accession, file_name: file } = record;
  if (typeof v !== 'number' || typeof path !== 'string') return false;
  const members = Object.keys(record);
  if (members[0] === 'v') return true;
  const directories = path.split('/');
  const isNamed = directories.pop() === file && directories.map(accessionIn).findLast(Boolean) === accession;
  return members.every((member) => VERIFY_MEMBERS.includes(member)) && (accession === undefined || isNamed);
}

function entry(accession: AccessionNumber, file: string, number: number): Entry {
  return { kind: 'entry', accession, file: file === '' ? undefined : file, number };
}

function parsedObject(line: string): JsonObject {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw invalid('broken JSON', cause);
  }
}

function invalid(reason: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', reason, {
    hint: "a line is ACCESSION, or ACCESSION and FILE, or an object as 'filings list --json' prints it",
    cause,
  });
}
