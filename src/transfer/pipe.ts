// The sink (see transfer.ts) for a pipe, a device or standard output. It writes each byte once: what a reader has got
// cannot be taken back.
import type { ByteWriter } from '../stdio/byte-writer.ts';
import type { RemoteVersion } from './resume.ts';
import type { Sink } from './transfer.ts';

export class Pipe implements Sink {
  readonly #writer: ByteWriter;
  readonly #signal: AbortSignal;
  version: RemoteVersion = {};
  #bytes = 0;
  /**
   * What a pipe holds on Linux (pipe(7)). A larger write would wait for the reader several times. The connection would
   * stand still for that long, because the program does not read from the network during a write.
   */
  readonly maxWriteBytes = 65_536;

  constructor(writer: ByteWriter, signal: AbortSignal) {
    this.#writer = writer;
    this.#signal = signal;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isRestartable(): boolean {
    return this.#bytes === 0;
  }

  /** Has nothing to drop, because it is called only while `isRestartable` is true. */
  async restart(): Promise<void> {}

  async write(chunks: readonly Buffer[]): Promise<void> {
    // If this throws, some of the bytes may have been written. It does not matter that they are not counted, because no
    // error of a write is retryable.
    await this.#writer.write(chunks, this.#signal);
    for (const { length } of chunks) this.#bytes += length;
  }

  /** Call this after a failure, too. Throws `local_io` or `interrupted`. */
  end(): Promise<void> {
    return this.#writer.end();
  }
}
