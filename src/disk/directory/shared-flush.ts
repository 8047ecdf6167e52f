/** A flush that many wait for: whoever comes while one runs shares the next with all who come till then. */
export class SharedFlush {
  readonly #flush: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  /** Until one flush has begun after this call, and has ended. Throws what it throws. */
  wait(): Promise<void> {
    if (!this.#running) {
      this.#running = this.#flush().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.wait();
      });
    return this.#next;
  }
}
