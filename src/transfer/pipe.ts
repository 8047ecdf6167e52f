// The sink for a pipe, a device or standard output.
import type { ByteWriter } from '../stdio/output.ts';
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

  /** Has nothing to drop: it is called only before the first byte. */
  async restart(): Promise<void> {}

  async write(chunks: readonly Buffer[]): Promise<void> {
    // Bytes of a failed write are not counted, but no error of a write is retryable.
    await this.#writer.write(chunks, this.#signal);
    for (const { length } of chunks) this.#bytes += length;
  }

  /** Call this after a failure, too. */
  end(): Promise<void> {
    return this.#writer.end();
  }
}
