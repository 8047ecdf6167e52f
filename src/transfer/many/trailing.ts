/** Works whose long part is over, and which come to their end while others have begun: a few, not any number. */
export class Trailing {
  readonly #most: number;
  readonly #onError: (error: unknown) => void;
  readonly #works = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** `onError` hears at once of what one of them throws. */
  constructor(most: number, onError: (error: unknown) => void) {
    this.#most = most;
    this.#onError = onError;
  }

  /** Waits until a work has said that it arrived, if there is room for it to trail, or until it has ended. Throws what it throws by then. */
  async untilArrived(work: (arrived: () => void) => Promise<void>): Promise<void> {
    let isTrailing = false;
    let free = () => {};
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    const arrived = () => {
      if (isTrailing || this.#works.size >= this.#most) return;
      isTrailing = true;
      this.#works.add(whole);
      free();
    };
    const whole: Promise<void> = Promise.resolve()
      .then(() => work(arrived))
      .catch((error) => {
        if (!isTrailing) throw error;
        this.#failure ??= { error };
        this.#onError(error);
      })
      .finally(() => this.#works.delete(whole));
    await Promise.race([freed, whole]);
  }

  /** All have ended. Throws what the first that failed threw. */
  async ended(): Promise<void> {
    await Promise.all(this.#works);
    if (this.#failure) throw this.#failure.error;
  }
}
