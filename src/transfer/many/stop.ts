import { setMaxListeners } from 'node:events';
import { FilingsError } from '../../errors.ts';
import type { Ending } from './run-many.ts';
import type { Source } from './source.ts';

/** Breaks off what is under way and closes the source: for a signal from outside, or what would fail all the rest. */
export class Stop {
  readonly #controller = new AbortController();
  readonly #release: () => void;

  constructor(source: Source<unknown>, outside: AbortSignal) {
    setMaxListeners(0, this.signal);
    this.signal.addEventListener('abort', () => source.close(this.signal.reason), { once: true });
    const onAbort = () => this.at(outside.reason);
    outside.addEventListener('abort', onAbort, { once: true });
    if (outside.aborted) onAbort();
    this.#release = () => outside.removeEventListener('abort', onAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): FilingsError | undefined {
    return this.signal.aborted ? this.signal.reason : undefined;
  }

  /** The first reason counts. */
  at(error: unknown): void {
    this.#controller.abort(error);
  }

  /** Throws what is no FilingsError: a defect. */
  by(error: unknown): void {
    if (!(error instanceof FilingsError)) throw error;
    this.at(error);
  }

  hasBroken({ error }: Ending): boolean {
    return this.signal.aborted && error === this.signal.reason;
  }

  release(): void {
    this.#release();
  }
}
