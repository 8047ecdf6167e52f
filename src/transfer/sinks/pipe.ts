import { createHash } from 'node:crypto';
import { FilingsError } from '../../errors.ts';
import type { ByteWriter } from '../../stdio/byte-writer.ts';
import { type Held, NO_VERSION, type Version } from '../resume.ts';
import type { Sink } from './sink.ts';

/** A pipe as a sink: a byte once written is never written again. */
export class Pipe implements Sink {
  readonly #writer: ByteWriter;
  readonly #signal: AbortSignal;
  readonly #isHashed: boolean;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #version = NO_VERSION;

  constructor(writer: ByteWriter, isHashed: boolean, signal: AbortSignal) {
    this.#writer = writer;
    this.#isHashed = isHashed;
    this.#signal = signal;
  }

  get held(): Held {
    return { bytes: this.#bytes, ...this.#version };
  }

  get restartable(): boolean {
    return this.#bytes === 0;
  }

  async begin(version: Version): Promise<void> {
    if (!this.restartable) {
      throw new FilingsError(
        'integrity',
        'the file cannot be continued: it has changed, or the service sends no ranges',
        { hint: 'part of it was written already; --spool writes all or nothing' },
      );
    }
    this.#version = version;
  }

  append(total: number): void {
    this.#version = { ...this.#version, total };
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#writer.write(chunks, this.#signal);
    for (const chunk of chunks) {
      this.#bytes += chunk.length;
      if (this.#isHashed) this.#hash.update(chunk);
    }
  }

  async sha256(): Promise<string> {
    return this.#hash.copy().digest('hex');
  }

  async finish(): Promise<'placed'> {
    await this.#writer.end();
    return 'placed';
  }

  /** What is out is out. The writer is not ended: a reader that never reads would hold the program at it. */
  async abandon(): Promise<number> {
    return 0;
  }
}
