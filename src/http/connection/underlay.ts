import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * A connection as TLS stands on it, when its own end and that of TLS must be told apart. Over a socket Node reads
 * below JavaScript, and gives one and the same `end` for a closure alert, for a bare FIN, and for a cut inside a
 * record. Through this stream the connection's end passes last: if TLS has ended before, the alert has come.
 */
export class Underlay extends Duplex {
  readonly #socket: Socket;
  #ended = false;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    // Before TLS listens, so that it is known when TLS hears of it.
    this.once('end', () => {
      this.#ended = true;
    });
    socket.on('data', (chunk) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('error', (error) => this.destroy(error));
    // Behind an end there may be bytes here that nobody has read yet.
    const onClose = () => this.destroy();
    socket.once('close', onClose);
    socket.once('end', () => {
      socket.off('close', onClose);
      this.push(null);
    });
  }

  /** The connection itself has ended, and TLS has been told. */
  get ended(): boolean {
    return this.#ended;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
