import { sleep } from '../../abort.ts';

/**
 * When the next request may go out, for all jobs together: one budget of requests,
 * and one pause when the service asks for one. Times in milliseconds of the given clock.
 */
export class Pace {
  readonly #intervalMs: number;
  readonly #now: () => number;
  #next = 0;
  #pausedUntil = 0;
  #stopped: { readonly reason: unknown } | undefined;

  /** `ratePerSecond` undefined: no budget. `now` is a clock that never steps. */
  constructor(ratePerSecond: number | undefined, now: () => number) {
    this.#intervalMs = ratePerSecond === undefined ? 0 : 1000 / ratePerSecond;
    this.#now = now;
  }

  /** By its clock. */
  now(): number {
    return this.#now();
  }

  /** Nobody asks for the next `ms`. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#now() + ms);
  }

  /** Nobody asks any more: each turn throws the reason. */
  stop(reason: unknown): void {
    this.#stopped ??= { reason };
  }

  /** Waits for this request's turn, in the order of asking but for pauses; throws what it was stopped for, the signal's reason. */
  async turn(signal: AbortSignal): Promise<void> {
    for (let opens = this.#reserve(); ; opens = this.#reserve()) {
      await sleep(opens - this.#now(), signal);
      if (this.#stopped) throw this.#stopped.reason;
      // A pause that began meanwhile holds for this one too.
      if (this.#pausedUntil <= opens) return;
    }
  }

  #reserve(): number {
    const opens = Math.max(this.#now(), this.#pausedUntil, this.#next);
    this.#next = opens + this.#intervalMs;
    return opens;
  }
}
