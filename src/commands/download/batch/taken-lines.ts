/** Lines that somebody takes one by one, and leaves off taking without closing them: the rest can still be counted. */
export class TakenLines<Line> implements AsyncIterable<Line> {
  readonly #lines: AsyncIterator<Line>;
  #isLeft = false;
  /** Was under way when they were left. */
  #untaken = 0;
  /** How many were taken. */
  count = 0;
  last: Line | undefined;

  constructor(lines: AsyncIterable<Line>) {
    this.#lines = lines[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): AsyncIterator<Line> {
    return { next: () => this.#next(), return: () => this.#leave() };
  }

  /** One thing for each that nobody took. */
  async *rest(): AsyncGenerator<unknown> {
    for (;;) {
      const { done } = await this.#lines.next();
      for (; this.#untaken > 0; this.#untaken -= 1) yield undefined;
      if (done) return;
      yield undefined;
    }
  }

  async #next(): Promise<IteratorResult<Line>> {
    const next = await this.#lines.next();
    if (next.done) return next;
    if (this.#isLeft) this.#untaken += 1;
    else this.count += 1;
    this.last = next.value;
    return next;
  }

  async #leave(): Promise<IteratorResult<Line>> {
    this.#isLeft = true;
    return { value: undefined, done: true };
  }
}
