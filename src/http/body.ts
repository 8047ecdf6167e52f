import type { Intake } from './intake.ts';
import type { Watched } from './watchdog.ts';

/** The socket is held back above this: what is gathered while the disk or the reader is busy. */
const GATHER_BYTES = 1 << 20;
/** Chunks below this are copied together: a service may send each byte as a chunk, and counting them takes minutes. */
const SMALL_BYTES = 4096;
const BLOCK_BYTES = 65_536;

/**
 * A response body that is gathered while its consumer is busy and taken in one go:
 * large writes on a fast network, prompt ones on a slow network, bounded memory on both.
 */
export class Body {
  readonly #intake: Intake;
  readonly #watched: Watched;
  #chunks: Buffer[] = [];
  #taken: readonly Buffer[] = [];
  /** Holds the last of the chunks, and has room behind it. */
  #block: Buffer | undefined;
  #size = 0;
  #ended = false;
  #error: unknown;
  #wake = () => {};

  constructor(intake: Intake, watched: Watched) {
    this.#intake = intake;
    this.#watched = watched;
  }

  push(chunk: Buffer): void {
    if (chunk.length >= SMALL_BYTES || !this.#copied(chunk)) {
      this.#block = undefined;
      this.#chunks.push(chunk);
    }
    this.#size += chunk.length;
    if (this.#size >= GATHER_BYTES) {
      this.#intake.hold();
      this.#watched.pause();
    }
    this.#wake();
  }

  /** No more will come: the framing says that this was all, or it failed. What came before can still be taken. */
  end(error?: unknown): void {
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  /**
   * All bytes gathered so far, waiting for at least one; undefined at the end. The chunks are the caller's until the
   * next call, which reuses their memory. Throws what it failed with, after every byte that came before it.
   */
  async take(): Promise<Buffer[] | undefined> {
    this.#intake.recycle(this.#taken);
    this.#taken = [];
    while (this.#chunks.length === 0) {
      if (this.#error) throw this.#error;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#size = 0;
    this.#taken = chunks;
    // Behind its end the connection may carry another body.
    if (!this.#ended && this.#intake.held) {
      this.#watched.restart();
      this.#intake.release();
    }
    return chunks;
  }

  /** Puts a small chunk together with a small one before it, where there is one, and room. */
  #copied(chunk: Buffer): boolean {
    const last = this.#chunks.at(-1);
    if (!last || (!this.#block && last.length >= SMALL_BYTES)) return false;
    const size = last.length + chunk.length;
    if (size > BLOCK_BYTES) return false;
    if (!this.#block) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#block.set(last);
    }
    this.#block.set(chunk, last.length);
    this.#chunks[this.#chunks.length - 1] = this.#block.subarray(0, size);
    return true;
  }
}
