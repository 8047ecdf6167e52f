import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { writeAtOnce, writeToStream } from './raw-write.ts';

/** What a pipe holds on Linux. Fewer bytes are gathered with what comes in the same turn, such as the next record of TLS. */
const PIPE_BYTES = 65_536;

/**
 * A pipe to write to, under a descriptor that nobody shares. What it takes goes out at once, with no turn of the event
 * loop for each 64 KiB; for what it does not take, Node's stream waits until its reader has read.
 */
export class OwnPipe {
  readonly #fd: number;
  readonly #stream: Writable;

  /** Takes over a descriptor that was opened not to block, and Node's stream for it where there is one. */
  constructor(fd: number, stream: Writable = new Socket({ fd, readable: false, writable: true })) {
    this.#fd = fd;
    this.#stream = stream;
  }

  /** Resolves when the bytes are out of our hands. Throws the system's error, the signal's reason. */
  async write(chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const rest = this.#isFree() ? writeAtOnce(this.#fd, chunks) : chunks;
    if (rest.length > 0) return writeToStream(this.#stream, rest, signal);
    const size = chunks.reduce((sum, { length }) => sum + length, 0);
    if (size < PIPE_BYTES) await new Promise((resolve) => setImmediate(resolve));
  }

  /** What still waits was given up by its signal: no reader that never reads holds the end. */
  async end(): Promise<void> {
    if (this.#stream.writableLength > 0) this.#stream.destroy();
    else await new Promise<void>((resolve) => this.#stream.end(() => resolve()));
  }

  /** Whether nothing waits that was written before; once the stream has ended, the number may be another file's. */
  #isFree(): boolean {
    return this.#stream.writable && this.#stream.writableLength === 0;
  }
}
