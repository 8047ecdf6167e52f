// The stream that undici reads instead of the socket. It exists because undici 7 ends the process by an assertion if a
// connection ends while its parser is paused (nodejs/undici#5360). So the parser is never paused, only the socket below
// this stream. The stream reads a connected socket and passes its bytes on in order, and its end after the last byte.
// With undici 8, which needs Node 22.19, `controller.pause()` can replace this stream.
import type { OnReadOpts, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { errnoOf } from '../errors.ts';

/** Each read of a socket costs a pass through the parser, so reads should be large. */
const MAX_READ_BYTES = 524_288;
/** Together these buffers hold the bytes that a body gathers, those that are being written at the same time, and some more. */
const MAX_SPARE_BUFFERS = 8;

/** The read buffers of one connection. They are used again, so that a large body leaves no garbage. */
export class ReadBuffers {
  /** An option of `connect` over plain TCP. Over TLS the option would cost 50 % more CPU. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#spare.pop() ?? this.#allocate(),
    callback: (length, buffer) => {
      this.deliver(Buffer.from(buffer.buffer as ArrayBuffer, buffer.byteOffset, length));
      return true;
    },
  };
  /** Called with the bytes of each read. */
  deliver: (bytes: Buffer) => void = () => {};
  #bytes = MAX_READ_BYTES;
  #spare: Buffer[] = [];
  /**
   * The memory that was allocated here. Its size does not tell, because on some Nodes the pool that all small Buffers
   * share is as large as a read.
   */
  readonly #own = new WeakSet<ArrayBufferLike>();

  /** Sets the size of the next reads, in bytes. */
  limitReads(bytes: number): void {
    this.#bytes = Math.min(bytes, MAX_READ_BYTES);
    this.#spare = this.#spare.filter(({ length }) => length === this.#bytes);
  }

  /** Takes back the buffers of chunks that are not read any more. */
  recycle(chunks: readonly Buffer[]): void {
    // A buffer may contain several chunks. If the buffer were taken back twice, two reads would share it.
    for (const buffer of new Set(chunks.map((chunk) => chunk.buffer))) {
      const isUsable = this.#own.has(buffer) && buffer.byteLength === this.#bytes;
      if (isUsable && this.#spare.length < MAX_SPARE_BUFFERS) this.#spare.push(Buffer.from(buffer));
    }
  }

  #allocate(): Buffer {
    const buffer = Buffer.allocUnsafeSlow(this.#bytes);
    this.#own.add(buffer.buffer);
    return buffer;
  }
}

export class PausableSocket extends Duplex {
  /** Sees the bytes before undici does. Returns the bytes for undici, or null if there are none yet. */
  inspect: ((bytes: Buffer) => Buffer | null) | undefined;
  /** Whether `pauseReading` was called. */
  isReadingPaused = false;
  /** Whether the peer ended the connection by a reset instead of a FIN. */
  wasReset = false;
  readonly #real: Socket;
  readonly #buffers: ReadBuffers | undefined;

  /** Takes a socket that was not read from, and its read buffers if it is one of plain TCP. */
  constructor(real: Socket, buffers?: ReadBuffers) {
    // The socket should not be paused after a single read, which costs system calls.
    super({ readableHighWaterMark: 2 * MAX_READ_BYTES });
    this.#real = real;
    this.#buffers = buffers;
    // An error before undici listens would otherwise end the process. undici finds it in `errored`.
    this.on('error', () => {});
    if (buffers) buffers.deliver = (bytes) => this.#receive(bytes);
    else real.on('data', (bytes) => this.#receive(bytes));
    real.on('end', () => {
      // After a reset right after the last bytes Node reports an ordinary end, but the peer's address is missing. The
      // address must be read here, because Node caches an address that was read earlier and our own FIN removes it.
      if (real.remoteAddress === undefined) this.wasReset = true;
      this.push(null);
    });
    real.on('error', (error) => {
      if (errnoOf(error) === 'ECONNRESET') this.wasReset = true;
      this.destroy(error);
    });
    real.on('close', () => this.destroy());
  }

  /** Stops reading from the network until `resumeReading`. */
  pauseReading(): void {
    this.isReadingPaused = true;
    this.#real.pause();
  }

  resumeReading(): void {
    if (!this.isReadingPaused) return;
    this.isReadingPaused = false;
    this.#real.resume();
  }

  /** Sets the size of the next reads over plain TCP, in bytes. Over TLS each record is a read. */
  limitReads(bytes: number): void {
    this.#buffers?.limitReads(bytes);
  }

  /** Reuses the memory of chunks that are not read any more. */
  recycle(chunks: readonly Buffer[]): void {
    this.#buffers?.recycle(chunks);
  }

  override _read(): void {
    if (!this.isReadingPaused) this.#real.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#real.write(chunk, encoding, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#real.destroy();
    done(error);
  }

  #receive(bytes: Buffer): void {
    const rest = this.inspect ? this.inspect(bytes) : bytes;
    // A pushed null would be the end.
    if (rest !== null && !this.push(rest)) this.#real.pause();
  }
}
