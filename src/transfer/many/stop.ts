import { setMaxListeners } from 'node:events';
import { FilingsError } from '../../errors.ts';
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

  /** Aborted once it has stopped. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Undefined while it has not stopped. */
  get reason(): FilingsError | undefined {
    return this.signal.aborted ? this.signal.reason : undefined;
  }

  /** Stops, whatever the error is; the first one counts. */
  at(error: unknown): void {
    this.#controller.abort(error);
  }

  /** Stops for a FilingsError. Throws anything else: a defect. */
  by(error: unknown): void {
    if (!(error instanceof FilingsError)) throw error;
    this.at(error);
  }

  /** Whether something ended with this error because it was broken off. */
  hasBroken(error: FilingsError | undefined): boolean {
    return this.signal.aborted && error === this.signal.reason;
  }

  /** Nothing from outside is listened to any more. */
  release(): void {
    this.#release();
  }
}
