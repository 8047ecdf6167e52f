import type { OnReadOpts, Socket } from 'node:net';
import type { Watched } from './watchdog.ts';

/** Each read of a socket costs a way through the parser. */
const BUFFER_BYTES = 262_144;
/** Somewhat more than a body gathers. */
const MOST_SPARE = 10;

/** Gathered while the disk or the reader is busy; then the socket is held back. */
const GATHER_BYTES = 1 << 20;
/** Copied together: a service may send each byte as a chunk, and counting them takes minutes. */
const SMALL_BYTES = 4096;
const BLOCK_BYTES = 65_536;

/**
 * Bytes go to undici's parser as they arrive, or are held back; the parser itself is never paused, since it dies when a
 * connection ends meanwhile (`assert(!this.paused)`). Read buffers are used again, so that a large body leaves no
 * garbage.
 */
export class Intake {
  /** For `connect` over plain TCP; over TLS it costs half again. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES),
    callback: (bytes, buffer) => this.#arrived(Buffer.from(buffer.buffer as ArrayBuffer, buffer.byteOffset, bytes)),
  };
  /** Sees the bytes before the parser does, and gives what is for it. */
  inspect: ((bytes: Buffer) => Buffer | null) | undefined;
  held = false;
  readonly #spare: Buffer[] = [];
  #current: Buffer | null = null;
  #socket: Socket | undefined;
  #resume = () => {};

  /** For a socket that was connected with `onread`, before anybody reads. */
  attachPlain(socket: Socket): void {
    this.#attach(socket, () => {
      const bytes = this.#current;
      this.#current = null;
      return bytes;
    });
    this.#resume = () => void socket.resume();
  }

  /** Before anybody reads. */
  attachTls(socket: Socket): void {
    this.#attach(socket, (read) => {
      const bytes = this.held ? null : read();
      return bytes && this.inspect ? this.inspect(bytes) : bytes;
    });
    // The parser may be on the stack right now.
    this.#resume = () => void setImmediate(() => this.held || socket.destroyed || socket.emit('readable'));
  }

  hold(): void {
    this.held = true;
  }

  release(): void {
    if (!this.held) return;
    this.held = false;
    this.#resume();
  }

  /** Of chunks that nobody reads any more. */
  recycle(chunks: readonly Buffer[]): void {
    // A buffer may have held several chunks; given back twice, two reads would share it.
    for (const buffer of new Set(chunks.map((chunk) => chunk.buffer))) {
      if (buffer.byteLength === BUFFER_BYTES && this.#spare.length < MOST_SPARE) this.#spare.push(Buffer.from(buffer));
    }
  }

  #attach(socket: Socket, take: (read: () => Buffer | null) => Buffer | null): void {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    // Node itself reads nothing, to see the end.
    socket.read = (size?: number) => (size === 0 ? read(0) : take(read));
    // What the parser has not used behind an answer's end is nobody's.
    socket.unshift = () => {};
  }

  /** False stops reading until `resume`. */
  #arrived(bytes: Buffer): boolean {
    this.#current = this.inspect ? this.inspect(bytes) : bytes;
    this.#socket?.emit('readable');
    return !this.held;
  }
}

/**
 * Gathered while its consumer is busy and taken in one go: large writes on a fast network, prompt ones on a slow
 * network, bounded memory on both.
 */
export class Body {
  readonly #intake: Intake;
  readonly #watched: Watched;
  #chunks: Buffer[] = [];
  #taken: readonly Buffer[] = [];
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
