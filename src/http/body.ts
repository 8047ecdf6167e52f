// Gathers the chunks of a body while their consumer is busy, and returns all of them at its next read. So writes are
// large on a fast network and prompt on a slow one, and memory is bounded on both.
import type { PausableSocket } from './pausable-socket.ts';
import type { IdleTimer } from './watchdog.ts';

/** Shorter chunks are copied together, because a service may send each byte as a chunk, and a Buffer has 100 bytes. */
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
  #size = 0;
  /** Small chunks are copied to the end of this block. Its filled part may still be read. */
  #block = Buffer.alloc(0);
  #filled = 0;
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
    // A consumer that keeps up gets each chunk as it is.
    if (chunk.length >= MIN_LARGE_CHUNK_BYTES || this.#chunks.length === 0) this.#chunks.push(chunk);
    else this.#copy(chunk);
    this.#size += chunk.length;
    if (this.#size >= this.#maxGatheredBytes) {
      this.#socket.pauseReading();
      this.#timer.pause();
    }
    this.#wake();
  }

  /** Puts bytes back, which the next `read` returns again. They must be a copy. */
  unread(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#chunks.unshift(bytes);
    this.#size += bytes.length;
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

  #copy(chunk: Buffer): void {
    if (this.#filled + chunk.length > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#filled = 0;
    }
    // If the last chunk is in this block, it is the one before this one in the block, too.
    const last = this.#chunks.at(-1);
    const isNeighbour = last?.buffer === this.#block.buffer;
    if (isNeighbour) this.#chunks.pop();
    const start = isNeighbour ? last.byteOffset : this.#filled;
    this.#filled += chunk.copy(this.#block, this.#filled);
    this.#chunks.push(this.#block.subarray(start, this.#filled));
  }
}
