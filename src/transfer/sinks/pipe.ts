import { createHash } from 'node:crypto';
import { FilingsError } from '../../errors.ts';
import type { ByteWriter } from '../../stdio/byte-writer.ts';
import type { Held, Validator } from '../resume.ts';
import type { Sink } from '../transfer.ts';

/** A pipe as a sink: a byte once written is never written again. */
export class Pipe implements Sink {
  readonly #writer: ByteWriter;
  readonly #signal: AbortSignal;
  readonly #hash = createHash('sha256');
  readonly #expected: string | undefined;
  #bytes = 0;
  #validator: Validator | undefined;
  #total: number | undefined;

  /** `expected` is the SHA-256 that the file must have, where it is known: only then is it hashed. */
  constructor(writer: ByteWriter, signal: AbortSignal, expected: string | undefined) {
    this.#writer = writer;
    this.#signal = signal;
    this.#expected = expected;
  }

  /** The SHA-256 of all that was written, in hexadecimal digits; asked for once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }

  async proves(): Promise<boolean> {
    return this.#expected !== undefined && this.#hash.copy().digest('hex') === this.#expected;
  }

  get held(): Held {
    return { bytes: this.#bytes, validator: this.#validator, total: this.#total };
  }

  get restartable(): boolean {
    return this.#bytes === 0;
  }

  async begin(validator: Validator | undefined, total: number | undefined): Promise<void> {
    if (!this.restartable) {
      throw new FilingsError(
        'integrity',
        'the file cannot be continued: it has changed, or the service sends no ranges',
        {
          hint: 'part of it was written already; --spool writes all or nothing',
        },
      );
    }
    this.#validator = validator;
    this.#total = total;
  }

  append(total: number): void {
    this.#total = total;
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#writer.write(chunks, this.#signal);
    for (const chunk of chunks) {
      this.#bytes += chunk.length;
      if (this.#expected !== undefined) this.#hash.update(chunk);
    }
  }
}
