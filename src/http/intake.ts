import type { OnReadOpts, Socket } from 'node:net';
import { InterimFilter } from './interim.ts';

/** What one read of a socket may bring. */
const SLOT_BYTES = 65_536;
/** Slots kept for reuse: somewhat more than a body gathers. */
const MOST_SLOTS = 40;

/**
 * The reading side of a socket, in our hands: into slots that are used again, so that
 * a large body leaves no garbage, and with back-pressure that undici never notices.
 * While held, `read()` answers null and the kernel's window fills; undici's parser is
 * never paused, since it dies when a connection ends meanwhile (`assert(!this.paused)`).
 * The end of the stream is only seen after the bytes before it.
 */
export class Intake {
  /** To be given to `connect` as its `onread`. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#spare.pop() ?? Buffer.allocUnsafeSlow(SLOT_BYTES),
    callback: (bytes, slot) => this.#arrived(Buffer.from(slot.buffer, slot.byteOffset, bytes)),
  };
  readonly #spare: Buffer[] = [];
  readonly #queue: Buffer[] = [];
  readonly #interim = new InterimFilter();
  #socket: Socket | undefined;
  #end: (() => void) | undefined;
  #held = false;

  /** Takes over a socket that was connected with `onread`, before anybody reads from it. */
  attach(socket: Socket): void {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    const push = socket.push.bind(socket);
    socket.read = (size?: number) => (size === 0 ? read(0) : this.#take(read));
    socket.push = (chunk) => {
      if (chunk !== null || this.#queue.length === 0) return push(chunk);
      this.#end = () => {
        push(null);
        read(0);
      };
      return false;
    };
  }

  /** A request goes out. */
  expectAnswer(): void {
    this.#interim.expectAnswer();
  }

  get held(): boolean {
    return this.#held;
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    // In a turn of its own: the reader may be on the stack right now.
    setImmediate(() => {
      if (this.#held || !this.#socket || this.#socket.destroyed) return;
      this.#socket.emit('readable');
      if (this.#queue.length === 0) this.#socket.resume();
    });
  }

  /** Gives back the slots of chunks that nobody reads any more. */
  recycle(chunks: readonly Buffer[]): void {
    let last: ArrayBufferLike | undefined;
    for (const { buffer } of chunks) {
      // A slot may have held several chunks, one behind the other.
      if (buffer !== last && buffer.byteLength === SLOT_BYTES && this.#spare.length < MOST_SLOTS) {
        this.#spare.push(Buffer.from(buffer));
      }
      last = buffer;
    }
  }

  /** From the socket; false stops its reading until `resume`. */
  #arrived(chunk: Buffer): boolean {
    const bytes = this.#interim.pass(chunk);
    if (bytes.length > 0) this.#queue.push(bytes);
    if (!this.#held) this.#socket?.emit('readable');
    return !this.#held;
  }

  /** From undici: the next chunk, or null for now. */
  #take(read: () => unknown): Buffer | null {
    if (this.#held) return null;
    const chunk = this.#queue.shift();
    if (!chunk) return read() as null;
    if (this.#queue.length === 0 && this.#end) setImmediate(this.#end);
    return chunk;
  }
}
