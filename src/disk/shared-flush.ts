/** A flush that many wait for: whoever comes while one runs shares the next with all who come till then. */
export class SharedFlush<T> {
  readonly #flush: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(flush: () => Promise<T>) {
    this.#flush = flush;
  }

  /** What a flush gives that has begun after this call. Throws what it throws. */
  wait(): Promise<T> {
    if (!this.#running) {
      this.#running = this.#flush().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        this.#next = undefined;
        return this.wait();
      });
    return this.#next;
  }
}
