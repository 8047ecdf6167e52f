import { isUtf8 } from 'node:buffer';
import { systemReason } from '../../../disk/system-reason.ts';
import { FilingsError } from '../../../errors.ts';
import { type InputLine, parseInputLine } from './line.ts';
import { LineSplitter, type RawLine } from './line-splitter.ts';

/** Bytes of a line; a longer one is bad, and passed over without being kept. */
const LONGEST_LINE = 65_536;

export type NumberedLine = Exclude<InputLine, { kind: 'blank' }> & {
  /** From 1, blank lines counted. */
  readonly number: number;
  /** Bytes of the input up to the end of this line: how far it has been read. */
  readonly end: number;
};

/**
 * The entries of an `--input`, as they arrive: memory does not grow with the input.
 * Bad lines are among them, and so is a last one that no line feed ends. Throws `local_io`
 * when the stream can't be read, or what it was destroyed with when that is a FilingsError.
 */
export async function* readInputLines(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<NumberedLine> {
  const splitter = new LineSplitter(LONGEST_LINE);
  let number = 0;
  for await (const chunk of readable(stream)) {
    for (const raw of splitter.split(chunk)) {
      number += 1;
      const line = lineOf(raw);
      if (line.kind !== 'blank') yield numbered(line, number, raw.end);
    }
  }
  const last = splitter.rest();
  const line = last && lineOf(last);
  if (line && line.kind !== 'blank') yield numbered(line, number + 1, last.end);
}

/** Member by member: a spread took a microsecond a line. */
function numbered(line: Exclude<InputLine, { kind: 'blank' }>, number: number, end: number): NumberedLine {
  if (line.kind === 'bad') return { kind: 'bad', fault: line.fault, number, end };
  const { kind, accession, file } = line;
  return file === undefined ? { kind, accession, number, end } : { kind, accession, file, number, end };
}

async function* readable(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as Uint8Array);
  } catch (cause) {
    if (cause instanceof FilingsError) throw cause;
    throw new FilingsError('local_io', `the input: cannot be read: ${systemReason(cause)}`, { cause });
  }
}

function lineOf({ bytes }: RawLine): InputLine {
  if (bytes === undefined) return bad(`longer than ${LONGEST_LINE} bytes`);
  return isUtf8(bytes) ? parseInputLine(bytes.toString()) : bad('not UTF-8');
}

function bad(reason: string): InputLine {
  const hint = 'a line is ACCESSION, or ACCESSION and FILE, or an object as filings list --json prints it';
  return { kind: 'bad', fault: new FilingsError('usage', `a line of the input: ${reason}`, { hint }) };
}
