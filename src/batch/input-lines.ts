import { isUtf8 } from 'node:buffer';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import { type AccessionNumber, accessionIn, parseAccession, pasted } from '../service/accession.ts';
import { shortened } from '../text.ts';

/** What a line of `--input` asks for; without a file, what the options choose from the listing. */
export interface InputEntry {
  readonly kind: 'entry';
  readonly accession: AccessionNumber;
  readonly file?: string | undefined;
}

/** What a line says; undefined: a blank line or a comment. */
export type InputLine =
  | InputEntry
  /** The fault is the reason: why the line can't be used. */
  | { readonly kind: 'bad'; readonly fault: FilingsError }
  /** A record of a report that asks for nothing; of a summary the result is not told. */
  | { readonly kind: 'ignored'; readonly result?: string };

export type NumberedLine = Exclude<InputLine, { kind: 'ignored' }> & {
  /** From 1, blank lines counted. */
  readonly number: number;
};

const LINE_FEED = 0x0a;
/** Bytes of a line; a longer one is bad, and passed over without being kept. */
const LONGEST_LINE = 65_536;
const TOO_LONG = `longer than ${LONGEST_LINE} bytes`;
/** What `verify --json` says of things that no download repairs. */
const NOT_TO_FETCH = ['unlisted', 'damaged', 'torn'];

/**
 * The entries of an `--input`, those of a chunk at a time: memory does not grow with the input. Bad lines are among them,
 * and so is a last one that no line feed ends; `warn` is told of the first record of a kind that is ignored. Throws
 * `local_io` when the stream can't be read, or what it was destroyed with when that is a FilingsError.
 */
export async function* readBatches(
  stream: AsyncIterable<Uint8Array | string>,
  warn: (message: string) => void,
): AsyncGenerator<readonly NumberedLine[]> {
  const warned = new Set<string>();
  let number = 0;
  for await (const bytes of wholeLines(stream, LONGEST_LINE)) {
    const batch: NumberedLine[] = [];
    for (const text of textsOf(bytes)) {
      number += 1;
      const line: InputLine | undefined =
        typeof text === 'string' ? parseInputLine(text) : { kind: 'bad', fault: text };
      if (line === undefined) continue;
      if (line.kind === 'bad') batch.push({ kind: 'bad', fault: line.fault, number });
      else if (line.kind === 'entry') batch.push({ kind: 'entry', accession: line.accession, file: line.file, number });
      else if (line.result !== undefined && !warned.has(line.result)) {
        warned.add(line.result);
        warn(`--input: line ${number} and others like it are ignored: the result is '${line.result}'`);
      }
    }
    if (batch.length > 0) yield batch;
  }
}

/** A stream cut behind its line feeds, these left out; of a line that is too long no more than shows that is kept. */
export async function* wholeLines(stream: AsyncIterable<Uint8Array | string>, longest: number) {
  let rest = Buffer.alloc(0);
  for await (const chunk of readable(stream)) {
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last >= 0) {
      yield Buffer.concat([rest, chunk.subarray(0, last)]);
      rest = Buffer.alloc(0);
    }
    // A copy: the rest would hold all of the chunk, and may be overwritten by the next one.
    if (rest.length <= longest) rest = Buffer.concat([rest, chunk.subarray(last + 1)]).subarray(0, longest + 1);
  }
  if (rest.length > 0) yield rest;
}

async function* readable(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as Uint8Array);
  } catch (cause) {
    if (cause instanceof FilingsError) throw cause;
    throw new FilingsError('local_io', `the input: cannot be read: ${systemReason(cause)}`, { cause });
  }
}

/** The lines as texts; a fault for one that is none. */
function textsOf(bytes: Buffer): readonly (string | FilingsError)[] {
  if (isUtf8(bytes))
    return bytes
      .toString()
      .split('\n')
      .map((text) => (isLong(text) ? invalidLine(TOO_LONG) : text));
  // Each byte a character: so that each line's bytes are known.
  return bytes
    .toString('latin1')
    .split('\n')
    .map((text) => {
      if (text.length > LONGEST_LINE) return invalidLine(TOO_LONG);
      const line = Buffer.from(text, 'latin1');
      return isUtf8(line) ? line.toString() : invalidLine('not UTF-8');
    });
}

/** A UTF-16 unit takes at most three bytes. */
function isLong(text: string): boolean {
  return text.length * 3 > LONGEST_LINE && Buffer.byteLength(text) > LONGEST_LINE;
}

/**
 * Reads a line without its line feed: `ACCESSION`, or `ACCESSION` white space `FILE`, or a JSON object as `list --json`
 * and `verify --json` print it. FILE is the rest of the line after the first run of white space, a carriage return at the
 * end dropped, no quoting. A byte-order mark counts as white space.
 */
export function parseInputLine(text: string): InputLine | undefined {
  const line = text.replace(/\r$/, '').trimStart();
  if (line === '' || line.startsWith('#')) return undefined;
  try {
    return line.startsWith('{') ? fromJson(line) : fromText(line);
  } catch (error) {
    if (error instanceof FilingsError) return { kind: 'bad', fault: error };
    throw error;
  }
}

function fromText(line: string): InputEntry {
  const [, first = '', file = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
  const accession = accessionIn(first);
  if (accession !== undefined) return entry(accession, file);
  const meant = pasted(first);
  if (meant === undefined) return entry(parseAccession(first), file);
  throw new FilingsError('usage', `'${shortened(first, 60)}' is not an accession number`, {
    hint: `write the line as: ${[meant.accession, meant.fileName ?? file].join(' ').trim()}`,
  });
}

function fromJson(line: string): InputLine {
  const { accession_no: accession, file_name: file, result, summary } = parsedObject(line);
  if (typeof result === 'string' && NOT_TO_FETCH.includes(result)) return { kind: 'ignored', result };
  if (typeof summary === 'object' && accession === undefined) return { kind: 'ignored' };
  if (typeof accession !== 'string') throw invalidObject('accession_no is not a string');
  if (file !== undefined && file !== null && typeof file !== 'string') throw invalidObject('file_name is not a string');
  return entry(parseAccession(accession), file ?? '');
}

function entry(accession: AccessionNumber, file: string): InputEntry {
  return { kind: 'entry', accession, file: file === '' ? undefined : file };
}

function parsedObject(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw invalidObject('broken JSON', cause);
  }
}

function invalidObject(reason: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', `an object of the input: ${reason}`, {
    hint: "write one object a line, as 'filings list --json' prints it",
    cause,
  });
}

function invalidLine(reason: string): FilingsError {
  return new FilingsError('usage', `a line of the input: ${reason}`, {
    hint: "a line is ACCESSION, or ACCESSION and FILE, or an object as 'filings list --json' prints it",
  });
}
