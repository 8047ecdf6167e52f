// Finds exchanges that receive too few bytes. undici's own timeout accepts a drip of bytes and fires while the socket
// is paused. One wait serves all exchanges: a timer for each, which most files would abort, costs 25 times as much CPU.
import { createAbortController, yieldToEventLoop } from '../abort.ts';
import type { World } from '../world.ts';

type Clock = Pick<World, 'monotonic' | 'sleep'>;

/** Fewer new bytes within the timeout are treated as none. */
const MIN_BYTES = 1000;
/** A wait that ends this much too late, in milliseconds, means that the process was stopped or the machine slept. */
const MIN_STOP_MS = 1000;

/** Calls `onIdle` of each timer that has received too few bytes for `ms` milliseconds. */
export class Watchdog {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #timers = new Set<IdleTimer>();
  readonly #closed = createAbortController();
  #running: Promise<void> | undefined;

  constructor(ms: number, clock: Clock) {
    this.#ms = ms;
    this.#clock = clock;
  }

  /** Starts a timer, which lasts until its `end` is called. `onIdle` must call `end`. */
  watch(onIdle: () => void): IdleTimer {
    const timer = new IdleTimer(this.#clock.monotonic, onIdle, () => this.#timers.delete(timer));
    this.#timers.add(timer);
    this.#running ??= this.#run().catch(() => {});
    return timer;
  }

  /** Ends all timers. */
  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    const { monotonic, sleep } = this.#clock;
    for (;;) {
      const now = monotonic();
      const due = Math.min(now, ...[...this.#timers].map(({ activeAt }) => activeAt)) + this.#ms;
      await sleep(due - now, this.#closed.signal);
      // Lets sockets be read first, because timers run before sockets after a stop of the process.
      await yieldToEventLoop(this.#closed.signal);
      const at = monotonic();
      // A late timer proves nothing, because the process may not have run in the meantime.
      const isLate = at - due >= MIN_STOP_MS;
      for (const timer of [...this.#timers]) {
        if (isLate) timer.addBytes(MIN_BYTES);
        else if (at - timer.activeAt >= this.#ms) timer.onIdle();
      }
    }
  }
}

/** The time since the last sign of life of one exchange. */
export class IdleTimer {
  readonly onIdle: () => void;
  readonly end: () => void;
  /** The time of the last sign of life on the monotonic clock, in milliseconds. Infinite while the timer is paused. */
  activeAt: number;
  readonly #now: () => number;
  #bytes = 0;

  constructor(now: () => number, onIdle: () => void, end: () => void) {
    this.#now = now;
    this.onIdle = onIdle;
    this.end = end;
    this.activeAt = now();
  }

  /** Counts received bytes. Enough of them restart the timer. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= MIN_BYTES && this.activeAt < Number.POSITIVE_INFINITY) this.restart();
  }

  restart(): void {
    this.#bytes = 0;
    this.activeAt = this.#now();
  }

  /** Stops the timer until `restart`, because a paused socket receives nothing. */
  pause(): void {
    this.activeAt = Number.POSITIVE_INFINITY;
  }
}
