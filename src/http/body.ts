// The body of a response, as a queue between the socket and its reader. While the reader is busy, for example with a
// write to the disk, the queue gathers chunks, and the next read returns all of them. So writes are large on a fast
// network and prompt on a slow one. A full queue pauses the socket, which bounds the memory.
//
// The exchange (request.ts) calls `push` and `end`. All other methods are for the one reader, which never has two reads
// in progress.
import type { PausableSocket } from './pausable-socket.ts';
import type { IdleTimer, Watchdog } from './watchdog.ts';

/** Smaller chunks are copied together: a service may send each byte as a chunk, and a Buffer takes about 100 bytes. */
const MIN_LARGE_CHUNK_BYTES = 4096;
const BLOCK_BYTES = 65_536;
/**
 * What all bodies together may gather. With 512 KiB for each, 16 downloads over TLS take 30 MB more memory: nothing is
 * recycled there, and V8 is late to free what had to wait.
 */
const MAX_GATHERED_BYTES = 1 << 21;

export class Body {
  readonly #socket: PausableSocket;
  readonly #timer: IdleTimer;
  readonly #watchdog: Pick<Watchdog, 'exchanges'>;
  /**
   * When more bytes than this are gathered, the socket is paused. The default suits writes to a disk: with 1 MiB they
   * are no faster.
   */
  #maxGatheredBytes = 1 << 19;
  #chunks: Buffer[] = [];
  #returnedChunks: readonly Buffer[] = [];
  #size = 0;
  /** The current block for small chunks. Its first `#filledBytes` bytes belong to chunks, so they never change. */
  #block = Buffer.alloc(0);
  #filledBytes = 0;
  #hasEnded = false;
  #error: unknown;
  #wake = () => {};

  constructor(socket: PausableSocket, timer: IdleTimer, watchdog: Pick<Watchdog, 'exchanges'>) {
    this.#socket = socket;
    this.#timer = timer;
    this.#watchdog = watchdog;
  }

  /**
   * For a pipe, which holds up the download if a write is larger than its buffer. The socket must read less, too,
   * because what it reads at once may arrive as one chunk.
   */
  limitReads(bytes: number): void {
    this.#maxGatheredBytes = bytes;
    this.#socket.buffers?.limitReads(bytes);
  }

  push(chunk: Buffer): void {
    // While the reader keeps up, the queue is empty and nothing is copied.
    if (chunk.length >= MIN_LARGE_CHUNK_BYTES || this.#chunks.length === 0) this.#chunks.push(chunk);
    else this.#copy(chunk);
    this.#size += chunk.length;
    const max = Math.min(this.#maxGatheredBytes, MAX_GATHERED_BYTES / this.#watchdog.exchanges);
    if (this.#size > max) {
      // A paused socket receives nothing, so without the second call a slow reader would cause an idle timeout.
      this.#socket.pauseReading();
      this.#timer.pause();
    }
    // A full queue wakes the reader at once. Otherwise the first chunk does, but only after this turn of the event
    // loop, so that several TLS records of 16 KiB become one write. With one write for each, a pipe takes 1.3 times as
    // long. If nobody waits now, the next `read` finds the chunk.
    if (this.#size >= max) this.#wake();
    else if (this.#chunks.length === 1) setImmediate(this.#wake);
  }

  /** They must be a copy, because the next `read` recycles the memory of earlier chunks. */
  unread(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#chunks.unshift(bytes);
    this.#size += bytes.length;
  }

  /** Gathered bytes can still be read. */
  end(error?: unknown): void {
    this.#hasEnded = true;
    this.#error = error;
    this.#wake();
  }

  /**
   * Returns at least one byte, or undefined at the end. The chunks are valid until the next call, which reuses their
   * memory. If an error ended the body, it is thrown after all bytes that came before it.
   */
  async read(): Promise<Buffer[] | undefined> {
    // Only the socket's own buffers are recycled. `recycle` ignores the blocks of `#copy` and the bytes of `unread`.
    this.#socket.buffers?.recycle(this.#returnedChunks);
    this.#returnedChunks = [];
    while (this.#chunks.length === 0) {
      if (this.#error) throw this.#error;
      if (this.#hasEnded) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#size = 0;
    this.#returnedChunks = chunks;
    // Once this body has ended, it must leave the socket alone: the exchange has resumed the socket already, and the
    // connection may now serve another request, whose body alone may pause and resume it.
    if (!this.#hasEnded && this.#socket.isReadingPaused) {
      this.#timer.restart();
      this.#socket.resumeReading();
    }
    return chunks;
  }

  #copy(chunk: Buffer): void {
    if (this.#filledBytes + chunk.length > this.#block.length) {
      // Not from Node's shared pool, so that an equal `buffer` below means this block.
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#filledBytes = 0;
    }
    // If the last chunk lies in this block, it ends where the new one begins, so both become one chunk.
    const last = this.#chunks.at(-1);
    const isAdjacent = last?.buffer === this.#block.buffer;
    if (isAdjacent) this.#chunks.pop();
    const start = isAdjacent ? last.byteOffset : this.#filledBytes;
    this.#filledBytes += chunk.copy(this.#block, this.#filledBytes);
    this.#chunks.push(this.#block.subarray(start, this.#filledBytes));
  }
}
