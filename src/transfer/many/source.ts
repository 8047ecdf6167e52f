import { FilingsError } from '../../errors.ts';

/** The things of a run, as they come: an `Expansion`, or anything whose `next()` never waits long after `return()`. */
export interface Supply<Item> extends AsyncIterable<Item> {
  /** How many were not handed out; undefined while nobody knows. */
  left?(): number | undefined;
}

/** What the workers of a run take from, until it is at its end or closed. */
export class Source<Item> {
  readonly #items: Supply<Item>;
  readonly #iterator: AsyncIterator<Item>;
  #taken = 0;
  #left: number | undefined;
  /** Why no more is taken. */
  closedBy: FilingsError | undefined;
  /** Resolves when the supply has let go of what it held. */
  closed: Promise<unknown> = Promise.resolve();

  constructor(items: Supply<Item>) {
    this.#items = items;
    this.#iterator = items[Symbol.asyncIterator]();
  }

  /** The next one; undefined when none is to be begun. */
  async next(): Promise<{ readonly item: Item } | undefined> {
    if (this.closedBy) return undefined;
    try {
      const { value, done } = await this.#iterator.next();
      if (done) return undefined;
      this.#taken += 1;
      return this.closedBy ? undefined : { item: value };
    } catch (error) {
      if (this.closedBy) return undefined;
      if (!(error instanceof FilingsError)) throw error;
      this.close(error);
      return undefined;
    }
  }

  /** No more is taken; the first reason counts. */
  close(reason: FilingsError): void {
    if (this.closedBy) return;
    this.closedBy = reason;
    this.#left = this.#items.left?.();
    // What it can't let go of is no reason to fail: the run has one already.
    this.closed = Promise.resolve(this.#iterator.return?.()).catch(() => {});
  }

  /** How many of all there were did not come to their end, of which `done` did. */
  undone(done: number): number | undefined {
    return this.#left === undefined ? undefined : this.#left + this.#taken - done;
  }
}
