const CONTINUE = Buffer.from('HTTP/1.1 100');
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);
/** A longer head is the parser's to refuse. */
const LONGEST_HEAD = 16_384;

/**
 * Passes over a 100 Continue that nobody asked for: a client has to (RFC 9110 section
 * 15.2), and undici takes it for a broken answer. Other interim answers it knows.
 */
export class InterimFilter {
  /** What may be the beginning of one; undefined once a final answer has begun. */
  #held: Buffer | undefined;

  /** An answer is about to come. */
  expectAnswer(): void {
    this.#held = NOTHING;
  }

  /** What of the bytes is for the parser, nothing while that can't be told. */
  pass(chunk: Buffer): Buffer {
    if (this.#held === undefined) return chunk;
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (;;) {
      const end = isContinue(bytes) ? bytes.indexOf(END_OF_HEAD) : -1;
      if (end < 0) break;
      bytes = bytes.subarray(end + END_OF_HEAD.length);
    }
    const undecided = isContinue(bytes) && bytes.length <= LONGEST_HEAD;
    this.#held = undecided ? Buffer.from(bytes) : undefined;
    return undecided ? NOTHING : bytes;
  }
}

/** Whether the bytes begin, as far as they go, as a 100 does. */
function isContinue(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, CONTINUE.length);
  return bytes.subarray(0, length).equals(CONTINUE.subarray(0, length));
}
