import type { PausableSocket } from './pausable-socket.ts';
import type { IdleTimer } from './watchdog.ts';

// Gathers the chunks of a body while their consumer is busy, and returns all of them at its next read. So writes are
// large on a fast network and prompt on a slow one, and memory is bounded on both.

/** Shorter chunks are copied into blocks, because a service may send each byte as a chunk. */
const MIN_LARGE_CHUNK_BYTES = 4096;
const BLOCK_BYTES = 65_536;

/** The body of one response. */
export class Body {
  readonly #socket: PausableSocket;
  readonly #timer: IdleTimer;
  /** The number of gathered bytes from which on the socket is paused. */
  #maxGatheredBytes = 1 << 20;
  #chunks: Buffer[] = [];
  #readChunks: readonly Buffer[] = [];
  #block: Buffer | undefined;
  #size = 0;
  #isEnded = false;
  #error: unknown;
  #wake = () => {};

  constructor(socket: PausableSocket, timer: IdleTimer) {
    this.#socket = socket;
    this.#timer = timer;
  }

  /** Sets how many bytes one `read` should return on a fast network. The default suits a disk. */
  limitReads(bytes: number): void {
    this.#maxGatheredBytes = bytes;
    this.#socket.limitReads(bytes);
  }

  /** Adds a chunk at the end, and pauses the socket if enough bytes are gathered. */
  push(chunk: Buffer): void {
    if (chunk.length >= MIN_LARGE_CHUNK_BYTES || !this.#appendToSmall(chunk)) {
      this.#block = undefined;
      this.#chunks.push(chunk);
    }
    this.#size += chunk.length;
    if (this.#size >= this.#maxGatheredBytes) {
      this.#socket.pauseReading();
      this.#timer.pause();
    }
    this.#wake();
  }

  /** Ends the body, by an error or as its framing says. Earlier bytes can still be read. */
  end(error?: unknown): void {
    this.#isEnded = true;
    this.#error = error;
    this.#wake();
  }

  /**
   * Waits for at least one byte. Returns all gathered chunks, or undefined at the end. The next call reuses the memory
   * of the chunks. Throws the error that ended the body, after all bytes before the error were returned.
   */
  async read(): Promise<Buffer[] | undefined> {
    this.#socket.recycle(this.#readChunks);
    this.#readChunks = [];
    while (this.#chunks.length === 0) {
      if (this.#error) throw this.#error;
      if (this.#isEnded) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#size = 0;
    this.#readChunks = chunks;
    // After the end the connection may serve another request.
    if (!this.#isEnded && this.#socket.isReadingPaused) {
      this.#timer.restart();
      this.#socket.resumeReading();
    }
    return chunks;
  }

  /** Appends to the small chunk before. Returns false if there is none, or if its block has no room. */
  #appendToSmall(chunk: Buffer): boolean {
    const last = this.#chunks.at(-1);
    if (!last || (!this.#block && last.length >= MIN_LARGE_CHUNK_BYTES)) return false;
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
