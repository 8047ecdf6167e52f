import type { OnReadOpts, Socket } from 'node:net';

/** What one read of a socket may bring: each costs a way through the parser. */
const BUFFER_BYTES = 262_144;
/** Kept for reuse: somewhat more than a body gathers. */
const MOST_SPARE = 10;

/**
 * The reading side of a socket. Bytes go to undici's parser as they arrive, or are held back; the parser itself is
 * never paused, since it dies when a connection ends meanwhile (`assert(!this.paused)`). Read buffers are used again,
 * so that a large body leaves no garbage.
 */
export class Intake {
  /** For `connect` over plain TCP; over TLS it costs half again. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES),
    callback: (bytes, buffer) => this.#arrived(Buffer.from(buffer.buffer as ArrayBuffer, buffer.byteOffset, bytes)),
  };
  /** Sees the bytes before the parser does. */
  inspect: ((bytes: Buffer) => void) | undefined;
  held = false;
  readonly #spare: Buffer[] = [];
  #current: Buffer | null = null;
  #socket: Socket | undefined;
  #resume = () => {};

  /** Takes over a socket that was connected with `onread`, before anybody reads from it. */
  attachPlain(socket: Socket): void {
    this.#attach(socket, () => {
      const bytes = this.#current;
      this.#current = null;
      return bytes;
    });
    this.#resume = () => void socket.resume();
  }

  /** Takes over a socket of TLS, before anybody reads from it. */
  attachTls(socket: Socket): void {
    this.#attach(socket, (read) => {
      const bytes = this.held ? null : read();
      if (bytes) this.inspect?.(bytes);
      return bytes;
    });
    // In a turn of its own: the parser may be on the stack right now.
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

  /** Gives back the buffers of chunks that nobody reads any more. */
  recycle(chunks: readonly Buffer[]): void {
    // A buffer may have held several chunks, with others between them; given back twice, two reads would share it.
    for (const buffer of new Set(chunks.map((chunk) => chunk.buffer))) {
      if (buffer.byteLength === BUFFER_BYTES && this.#spare.length < MOST_SPARE) this.#spare.push(Buffer.from(buffer));
    }
  }

  #attach(socket: Socket, take: (read: () => Buffer | null) => Buffer | null): void {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    // undici reads what there is; Node itself reads nothing, to see the end.
    socket.read = (size?: number) => (size === 0 ? read(0) : take(read));
    // What the parser has not used behind an answer's end is nobody's.
    socket.unshift = () => {};
  }

  /** From the socket; false stops its reading until `resume`. */
  #arrived(bytes: Buffer): boolean {
    this.inspect?.(bytes);
    this.#current = bytes;
    this.#socket?.emit('readable');
    return !this.held;
  }
}
