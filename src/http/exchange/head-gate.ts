import { fieldFault, lineEndFault, startFault } from './head-fault.ts';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);
const CR = 13;
const LF = 10;
/** Of a head, its empty line included. */
const LONGEST_HEAD = 16_384;

/** An answer's head is not sound; the message says how. */
export class HeadFault extends Error {
  override readonly name = 'HeadFault';
}

/**
 * Holds an answer's head until it is whole, before undici's parser sees it, which takes RTSP and HTTP/2.0 for HTTP/1,
 * gives one and the same error for any fault behind a length, and takes a 100 Continue that nobody asked for for a
 * broken answer. Interim answers are passed over (RFC 9110 section 15.2), and blanks behind a field's value, which are
 * not of it (RFC 9110 section 5.5) and make the parser miss `chunked`; line breaks behind the body of the answer before
 * it, and nowhere else.
 */
export class HeadGate {
  /** What has come of a head; undefined once the final one is whole. */
  #held: Buffer | undefined;
  /** Heads of this connection that were whole. */
  #passed = 0;
  /** What comes next may be a line break behind the body of the answer before. */
  #behindBody = false;

  /** An answer is about to come. */
  expectAnswer(): void {
    this.#held = NOTHING;
    this.#behindBody = this.#passed > 0;
  }

  /** What of the bytes is for the parser, nothing while the head is not whole. Throws a HeadFault. */
  pass(chunk: Buffer): Buffer {
    if (this.#held === undefined) return chunk;
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (;;) {
      if (this.#behindBody) bytes = withoutLineBreaks(bytes);
      const end = endOfHead(bytes);
      if (end === undefined) {
        this.#held = Buffer.from(bytes);
        return NOTHING;
      }
      this.#behindBody = false;
      if (!isInterim(bytes)) {
        this.#held = undefined;
        this.#passed += 1;
        return tidied(bytes, end);
      }
      bytes = bytes.subarray(end);
    }
  }
}

function withoutLineBreaks(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== CR && byte !== LF);
  return start < 0 ? NOTHING : bytes.subarray(start);
}

/** Where a head that is whole and sound ends; undefined when it is not whole. */
function endOfHead(bytes: Buffer): number | undefined {
  refuse(startFault(bytes));
  const last = bytes.subarray(0, LONGEST_HEAD).indexOf(END_OF_HEAD);
  const end = last < 0 ? undefined : last + END_OF_HEAD.length;
  const head = bytes.toString('latin1', 0, end ?? Math.min(bytes.length, LONGEST_HEAD));
  refuse(lineEndFault(head));
  if (end === undefined && bytes.length >= LONGEST_HEAD) refuse('more than 16 KiB of header fields');
  if (end !== undefined) refuse(fieldFault(head));
  return end;
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new HeadFault(fault);
}

function isInterim(bytes: Buffer): boolean {
  return bytes.toString('latin1', 9, 10) === '1';
}

function tidied(bytes: Buffer, end: number): Buffer {
  const head = bytes.toString('latin1', 0, end);
  if (!/[ \t]\r\n/.test(head)) return bytes;
  const lines = head.split('\r\n').map((line) => line.slice(0, lengthWithoutBlanks(line)));
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), bytes.subarray(end)]);
}

function lengthWithoutBlanks(line: string): number {
  let length = line.length;
  while (length > 0 && ' \t'.includes(line.charAt(length - 1))) length -= 1;
  return length;
}
