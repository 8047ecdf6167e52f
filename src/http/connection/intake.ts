import type { OnReadOpts, Socket } from 'node:net';
import { HeadGate } from '../exchange/head-gate.ts';

/** What one read of a socket may bring: each costs a way through the parser. */
const SLOT_BYTES = 262_144;
/** Slots kept for reuse: somewhat more than a body gathers. */
const MOST_SLOTS = 10;

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
  readonly #gate = new HeadGate();
  #socket: Socket | undefined;
  #end: (() => void) | undefined;
  #held = false;

  /**
   * Takes over a socket before anybody reads from it: one that was connected with `onread`, or one of TLS, which knows
   * no `onread` over a socket of ours.
   */
  attach(socket: Socket): void {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    const push = socket.push.bind(socket);
    socket.read = (size?: number) => (size === 0 ? read(0) : this.#take(read));
    // What undici's parser has not used of its last read; nobody reads it again.
    socket.unshift = () => {};
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
    this.#gate.expectAnswer();
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
    // A slot may have held several chunks, with others between them; given back twice, two reads would share it.
    for (const buffer of new Set(chunks.map((chunk) => chunk.buffer))) {
      if (buffer.byteLength === SLOT_BYTES && this.#spare.length < MOST_SLOTS) this.#spare.push(Buffer.from(buffer));
    }
  }

  /** From the socket; false stops its reading until `resume`. */
  #arrived(chunk: Buffer): boolean {
    this.#queue.push(chunk);
    if (!this.#held) this.#socket?.emit('readable');
    return !this.#held;
  }

  /** From undici: the next chunk, or null for now. */
  #take(read: () => unknown): Buffer | null {
    for (;;) {
      if (this.#held) return null;
      const queued = this.#queue.shift();
      if (queued && this.#queue.length === 0 && this.#end) setImmediate(this.#end);
      const chunk = queued ?? (read() as Buffer | null);
      if (chunk === null) return null;
      const bytes = this.#admit(chunk);
      if (bytes.length > 0) return bytes;
    }
  }

  /** What of a chunk is for the parser; a head that is not sound ends the connection. */
  #admit(chunk: Buffer): Buffer {
    try {
      return this.#gate.pass(chunk);
    } catch (fault) {
      this.#socket?.destroy(fault as Error);
      return chunk.subarray(0, 0);
    }
  }
}
