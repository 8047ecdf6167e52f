/**
 * Lets many callers share flushes, or the writes of waiting lines. Each call of `run` is covered by a flush that starts
 * after the call, and all calls until that flush starts wait for the same one. After a failure every later call fails
 * with the same error: the kernel reports lost bytes only once (EIO in fsync(2)).
 */
export class SharedFlush {
  readonly #flush: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  /** Starts when the last flush has ended. If that one fails, this one never starts, and stays here. */
  #waiting: Promise<void> | undefined;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  run(): Promise<void> {
    if (!this.#waiting) {
      this.#waiting = this.#last.then(() => {
        this.#waiting = undefined;
        return this.#flush();
      });
      this.#last = this.#waiting;
    }
    return this.#waiting;
  }
}
