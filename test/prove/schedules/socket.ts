import type { OnReadOpts } from 'node:net';
import { Duplex } from 'node:stream';

/** What a socket's other side is told of it. */
interface Peer {
  /** Bytes go out; `sent` is called once they are out of our hands. */
  sent(bytes: Buffer, sent: () => void): void;
  gone(): void;
}

/** The program's end of a connection that is no kernel's: as much of node:net's Socket as the program and undici use. */
export class DrivenSocket extends Duplex {
  readonly #onread: OnReadOpts;
  readonly #peer: Peer;
  #isReading = true;
  #isReset = false;
  #wake: (() => void) | undefined;

  constructor(onread: OnReadOpts, peer: Peer) {
    super({ allowHalfOpen: false, emitClose: true });
    this.#onread = onread;
    this.#peer = peer;
  }

  /** As node:net has it: gone after a reset, there after FIN (asked once, at the end). */
  get remoteAddress(): string | undefined {
    return this.#isReset ? undefined : '127.0.0.1';
  }

  setNoDelay = () => this;
  setKeepAlive = () => this;
  ref = () => this;
  unref = () => this;

  /** Bytes come in, at most a slot at a time; resolves with how many were taken, 0 when it is closed. */
  arrive(bytes: Buffer): number {
    if (this.destroyed) return 0;
    const slot = (this.#onread.buffer as () => Buffer)();
    const taken = bytes.copy(slot);
    if (!this.#onread.callback(taken, slot)) this.#isReading = false;
    return taken;
  }

  /** Until it reads again. */
  async reading(): Promise<void> {
    while (!this.#isReading && !this.destroyed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The other side has ended the connection. */
  finish(): void {
    if (this.destroyed) return;
    this.push(null);
    this.read(0);
  }

  /** The other side has reset it; `unseen` right behind its last bytes, where Node tells of an ordinary end. */
  reset(unseen: boolean): void {
    this.#isReset = true;
    if (unseen) this.finish();
    else this.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' }));
  }

  override resume(): this {
    this.#readAgain();
    return super.resume();
  }

  override _read(): void {
    this.#readAgain();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#peer.sent(chunk, done);
  }

  override _final(done: () => void): void {
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#readAgain();
    this.#peer.gone();
    done(error);
  }

  #readAgain(): void {
    this.#isReading = true;
    this.#wake?.();
  }
}
