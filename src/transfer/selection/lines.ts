import { isUtf8 } from 'node:buffer';
import { errnoOf, FilingsError } from '../../errors.ts';
import { type InputLine, parseInputLine } from './line.ts';

/** Bytes of a line; a longer one is bad, and passed over without being kept. */
const LONGEST_LINE = 65_536;
const LINE_FEED = 0x0a;

export type NumberedLine = Exclude<InputLine, { kind: 'blank' }> & {
  /** From 1, blank lines counted. */
  readonly number: number;
};

/**
 * The entries of an `--input`, as they arrive: memory does not grow with the input.
 * Bad lines are among them. Throws `local_io` when the stream can't be read, or what
 * it was destroyed with when that is a FilingsError.
 */
export async function* readInputLines(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<NumberedLine> {
  let number = 0;
  for await (const bytes of linesOf(stream)) {
    number += 1;
    const line = lineOf(bytes);
    if (line.kind !== 'blank') yield { ...line, number };
  }
}

/** Each line's bytes, without the line feed; undefined for one that is too long. */
async function* linesOf(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer | undefined> {
  let kept: Buffer[] = [];
  let length = 0;
  const finished = () => {
    const line = length > LONGEST_LINE ? undefined : Buffer.concat(kept);
    kept = [];
    length = 0;
    return line;
  };
  for await (const chunk of readable(stream)) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      keep(chunk.subarray(start, end));
      yield finished();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (length > 0) yield finished();

  function keep(piece: Buffer): void {
    length += piece.length;
    if (length > LONGEST_LINE) kept = [];
    else if (piece.length > 0) kept.push(piece);
  }
}

async function* readable(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield Buffer.from(chunk as Uint8Array);
  } catch (cause) {
    if (cause instanceof FilingsError) throw cause;
    throw new FilingsError('local_io', `the input: cannot be read (${errnoOf(cause) ?? 'unknown error'})`, { cause });
  }
}

function lineOf(bytes: Buffer | undefined): InputLine {
  if (bytes === undefined) return bad(`longer than ${LONGEST_LINE} bytes`);
  return isUtf8(bytes) ? parseInputLine(bytes.toString()) : bad('not UTF-8');
}

function bad(reason: string): InputLine {
  const hint = 'a line is ACCESSION, or ACCESSION and FILE, or an object as filings list --json prints it';
  return { kind: 'bad', fault: new FilingsError('usage', `a line of the input: ${reason}`, { hint }) };
}
