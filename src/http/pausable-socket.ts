// The stream that undici reads instead of the socket. One would expect to pause undici itself while a body is not read.
// But undici 7 fails with an assertion, which ends the process, if a connection ends while its parser is paused
// (nodejs/undici#5360). So undici is never paused. Instead, this stream stands between undici and the socket, and
// pauses the socket. With undici 8, which needs Node 22.19, `controller.pause()` can replace it.
import type { OnReadOpts, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { errnoOf } from '../errors.ts';

/** Large, because each read costs a run of undici's parser. */
const MAX_READ_BYTES = 524_288;
/** For what a `Body` holds unread, for what is being written, and for a few more reads. */
const MAX_SPARE_BUFFERS = 8;

/** Recycled, so that a large body creates no garbage. */
export class ReadBuffers {
  /** Use it for plain TCP only: over TLS it would need 50 % more CPU time than `data` events. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#spare.pop() ?? this.#allocate(),
    callback: (length, buffer) => {
      this.deliver(Buffer.from(buffer.buffer as ArrayBuffer, buffer.byteOffset, length));
      return true;
    },
  };
  /** The PausableSocket sets it, before anything is read from the socket. */
  deliver: (bytes: Buffer) => void = () => {};
  #bufferBytes = MAX_READ_BYTES;
  #spare: Buffer[] = [];
  /**
   * The memory that was allocated here, and therefore may be recycled. The size alone does not prove that: on Node 24,
   * the pool that all small Buffers share is as large as a read, and recycling it would overwrite other data.
   */
  readonly #allocated = new WeakSet<ArrayBufferLike>();

  /** Buffers of another size are not used again. */
  limitReads(bytes: number): void {
    this.#bufferBytes = Math.min(bytes, MAX_READ_BYTES);
    this.#spare = this.#spare.filter(({ length }) => length === this.#bufferBytes);
  }

  /** The chunks must not be used any more. A chunk whose memory was not allocated here is ignored. */
  recycle(chunks: readonly Buffer[]): void {
    // Several chunks may lie in one buffer. The Set takes it back only once, or two reads would write to it.
    for (const buffer of new Set(chunks.map((chunk) => chunk.buffer))) {
      const isUsable = this.#allocated.has(buffer) && buffer.byteLength === this.#bufferBytes;
      if (isUsable && this.#spare.length < MAX_SPARE_BUFFERS) this.#spare.push(Buffer.from(buffer));
    }
  }

  #allocate(): Buffer {
    // Unlike `allocUnsafe`, this never shares the memory with other Buffers.
    const buffer = Buffer.allocUnsafeSlow(this.#bufferBytes);
    this.#allocated.add(buffer.buffer);
    return buffer;
  }
}

export class PausableSocket extends Duplex {
  /**
   * Gets all bytes before undici does, and returns what to pass on, or null for nothing. The exchange clears it when
   * undici has read the head of the response.
   */
  filterHead: ((bytes: Buffer) => Buffer | null) | undefined;
  /** A full stream also pauses the socket, but does not set this. */
  isReadingPaused = false;
  /** By RST instead of FIN. */
  wasReset = false;
  readonly #socket: Socket;
  /** Undefined over TLS, where a read is one record of 16 KiB at most. */
  readonly buffers: ReadBuffers | undefined;

  /** Nothing may have been read from `socket`. Pass the `ReadBuffers` with whose `onread` it was opened. */
  constructor(socket: Socket, buffers?: ReadBuffers) {
    // Bytes wait here only until undici gets the event that they are readable. When this many wait, `push` returns
    // false and the socket is paused. With room for just one read, that would happen after every single read, and each
    // pause costs system calls.
    super({ readableHighWaterMark: 2 * MAX_READ_BYTES });
    this.#socket = socket;
    this.buffers = buffers;
    // Without a listener, an error that occurs before undici listens would end the process. undici finds this error
    // in `errored`.
    this.on('error', () => {});
    if (buffers) buffers.deliver = (bytes) => this.#receive(bytes);
    else socket.on('data', (bytes) => this.#receive(bytes));
    socket.on('end', () => {
      // If a reset follows the last bytes at once, Node reports an ordinary end, but the peer's address is undefined.
      // Nothing may read the address before, because Node would return the same value again. And our own FIN must not
      // have been sent yet, because after it the address is always undefined. This class has no `_final`, so the end of
      // this stream does not send one.
      if (socket.remoteAddress === undefined) this.wasReset = true;
      this.push(null);
    });
    socket.on('error', (error) => {
      if (errnoOf(error) === 'ECONNRESET') this.wasReset = true;
      this.destroy(error);
    });
    // This loses no bytes: undici is never paused, so by then it has read all that the socket delivered.
    socket.on('close', () => this.destroy());
  }

  pauseReading(): void {
    this.isReadingPaused = true;
    this.#socket.pause();
  }

  resumeReading(): void {
    // If a full stream has paused the socket, only `_read` may resume it.
    if (!this.isReadingPaused) return;
    this.isReadingPaused = false;
    this.#socket.resume();
  }

  override _read(): void {
    if (!this.isReadingPaused) this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(bytes: Buffer): void {
    const rest = this.filterHead ? this.filterHead(bytes) : bytes;
    // A null must not be pushed, because it would end the stream. If `push` returns false, `_read` resumes the socket.
    if (rest !== null && !this.push(rest)) this.#socket.pause();
  }
}
