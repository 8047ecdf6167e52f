/** Of any span of time, at most this share is spent in waiting for a disk. */
const SHARE = 0.2;
/** And so much at once, where nothing was waited for before. Milliseconds. */
const MOST_SAVED_MS = 50;
/** A turn of the event loop that lasts longer is not made longer still: where nothing is fetched, none would end. Milliseconds. */
const LONGEST_TURN_MS = 10;

/**
 * How long the event loop may wait for system calls: while it does, no signal, no deadline and no other file has a turn.
 * What a call took is paid off by the time that follows; a disk that is slow, or slow for once, soon has no more of it.
 */
export class LoopTime {
  readonly #monotonic: () => number;
  readonly #nextTurn: (run: () => void) => void;
  #saved = MOST_SAVED_MS;
  /** When the present turn's first call was asked for. */
  #turn: number | undefined;
  #at = Number.NEGATIVE_INFINITY;

  /** `monotonic` in milliseconds; `nextTurn` as setImmediate. */
  constructor(monotonic: () => number, nextTurn: (run: () => void) => void) {
    this.#monotonic = monotonic;
    this.#nextTurn = nextTurn;
  }

  /** What the call gives, if there is time to wait for it: undefined without a try. Throws what it throws. */
  spend<T>(call: () => T): { readonly value: T } | undefined {
    const began = this.#monotonic();
    this.#saved = Math.min(MOST_SAVED_MS, this.#saved + (began - this.#at) * SHARE);
    this.#at = began;
    if (this.#saved <= 0 || this.#ageOfTurn(began) > LONGEST_TURN_MS) return undefined;
    try {
      return { value: call() };
    } finally {
      this.#saved -= this.#monotonic() - began;
    }
  }

  #ageOfTurn(now: number): number {
    if (this.#turn !== undefined) return now - this.#turn;
    this.#turn = now;
    this.#nextTurn(() => {
      this.#turn = undefined;
    });
    return 0;
  }
}
