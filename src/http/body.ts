import type { PausableSocket } from './pausable-socket.ts';
import type { Watched } from './watchdog.ts';

/** Gathered while the disk or the reader is busy; then the socket is held back. */
const GATHER_BYTES = 1 << 20;
/** Copied together: a service may send each byte as a chunk, and counting them takes minutes. */
const SMALL_BYTES = 4096;
const BLOCK_BYTES = 65_536;

/**
 * Gathered while its consumer is busy and taken in one go: large writes on a fast network, prompt ones on a slow
 * network, bounded memory on both.
 */
export class Body {
  readonly #socket: PausableSocket;
  readonly #watched: Watched;
  #chunks: Buffer[] = [];
  #taken: readonly Buffer[] = [];
  #block: Buffer | undefined;
  #size = 0;
  #ended = false;
  #error: unknown;
  #wake = () => {};

  constructor(socket: PausableSocket, watched: Watched) {
    this.#socket = socket;
    this.#watched = watched;
  }

  push(chunk: Buffer): void {
    if (chunk.length >= SMALL_BYTES || !this.#copied(chunk)) {
      this.#block = undefined;
      this.#chunks.push(chunk);
    }
    this.#size += chunk.length;
    if (this.#size >= GATHER_BYTES) {
      this.#socket.hold();
      this.#watched.pause();
    }
    this.#wake();
  }

  /** By its framing, or by a failure. What came before can still be taken. */
  end(error?: unknown): void {
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  /**
   * Waits for at least one byte; undefined at the end. The chunks are the caller's until the next call, which reuses
   * their memory. Throws what the body failed with, after every byte that came before it.
   */
  async take(): Promise<Buffer[] | undefined> {
    this.#socket.recycle(this.#taken);
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
    if (!this.#ended && this.#socket.isHeld) {
      this.#watched.restart();
      this.#socket.release();
    }
    return chunks;
  }

  /** Onto a small chunk before it, where there is one, and room. */
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
