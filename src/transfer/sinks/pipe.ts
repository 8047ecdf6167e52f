import { createHash } from 'node:crypto';
import { FilingsError } from '../../errors.ts';
import type { ByteWriter } from '../../stdio/byte-writer.ts';
import type { Proof } from '../proof.ts';
import { type Held, NO_VERSION, type Version } from '../resume.ts';
import type { Finished, Sink } from './sink.ts';

/** A pipe as a sink: a byte once written is never written again. */
export class Pipe implements Sink {
  readonly #writer: ByteWriter;
  readonly #signal: AbortSignal;
  readonly #proof: Proof;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #version = NO_VERSION;

  constructor(writer: ByteWriter, proof: Proof, signal: AbortSignal) {
    this.#writer = writer;
    this.#proof = proof;
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
      if (this.#proof.hashed) this.#hash.update(chunk);
    }
  }

  proves(): Promise<boolean> {
    return this.#proof.holds(() => this.#sha256());
  }

  async finish(): Promise<Finished> {
    await this.#writer.end();
    return { placed: 'placed', sha256: await this.#proof.require(() => this.#sha256()) };
  }

  /** What is out is out. The writer is not ended: a reader that never reads would hold the program at it. */
  async abandon(): Promise<number> {
    return 0;
  }

  #sha256(): string {
    return this.#hash.copy().digest('hex');
  }
}
