const LINE_FEED = 0x0a;

/** A line's bytes without its line feed, and where it ends; no bytes for one that is too long. */
export interface RawLine {
  readonly bytes: Buffer | undefined;
  /** Bytes of the stream up to the line's end, its line feed included. */
  readonly end: number;
}

/** Cuts a stream of bytes into lines. Keeps the unfinished one alone, and of one that is too long nothing. */
export class LineSplitter {
  readonly #longest: number;
  #kept: Buffer[] = [];
  #length = 0;
  #passed = 0;

  /** @param longest bytes of a line, without its line feed */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The lines that end in a further chunk. Their bytes are the chunk's own: valid for as long as those are. */
  *split(chunk: Buffer): Generator<RawLine> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      yield { bytes: this.#finished(), end: this.#passed + start };
    }
    this.#passed += chunk.length;
    // A copy: the rest would hold all of the chunk, and may be overwritten by the next one.
    if (start < chunk.length) this.#keep(Buffer.from(chunk.subarray(start)));
  }

  /** The last line, when no line feed ended it. */
  rest(): RawLine | undefined {
    return this.#length === 0 ? undefined : { bytes: this.#finished(), end: this.#passed };
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#longest) this.#kept = [];
    else this.#kept.push(piece);
  }

  #finished(): Buffer | undefined {
    const tooLong = this.#length > this.#longest;
    const [first, ...others] = this.#kept;
    const line = others.length === 0 ? (first ?? Buffer.alloc(0)) : Buffer.concat(this.#kept);
    this.#kept = [];
    this.#length = 0;
    return tooLong ? undefined : line;
  }
}
