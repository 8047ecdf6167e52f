import { createAbortController, yieldToEventLoop } from '../abort.ts';
import type { World } from '../world.ts';

type Clock = Pick<World, 'monotonic' | 'sleep'>;

/** Fewer new bytes within the time are a drip, and count as none. */
const MIN_BYTES = 1000;
/** A wait that ends so late: the process was stopped, or the machine slept. */
const STOPPED_MS = 1000;

/**
 * Tells those that have shown no sign of life for `ms`. One wait serves all, since whoever comes later is due later.
 */
export class Watchdog {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #watched = new Set<Watched>();
  readonly #closed = createAbortController();
  #running: Promise<void> | undefined;

  constructor(ms: number, clock: Clock) {
    this.#ms = ms;
    this.#clock = clock;
  }

  /** Until `end` is called, as `onIdle` has to. */
  watch(onIdle: () => void): Watched {
    const watched = new Watched(this.#clock.monotonic, onIdle, () => this.#watched.delete(watched));
    this.#watched.add(watched);
    this.#running ??= this.#run().catch(() => {});
    return watched;
  }

  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    const { monotonic, sleep } = this.#clock;
    for (;;) {
      const now = monotonic();
      const due = Math.min(now, ...[...this.#watched].map(({ since }) => since)) + this.#ms;
      await sleep(due - now, this.#closed.signal);
      // What had come by then is read first: after a stop timers have their turn before sockets.
      await yieldToEventLoop(this.#closed.signal);
      const at = monotonic();
      // A timer that fires late proves nothing: nobody was awake to wait.
      const isLate = at - due >= STOPPED_MS;
      for (const watched of [...this.#watched]) {
        if (isLate) watched.fed(MIN_BYTES);
        else if (at - watched.since >= this.#ms) watched.onIdle();
      }
    }
  }
}

export class Watched {
  readonly onIdle: () => void;
  readonly end: () => void;
  /** Infinite while it is paused. */
  since: number;
  readonly #now: () => number;
  #fresh = 0;

  constructor(now: () => number, onIdle: () => void, end: () => void) {
    this.#now = now;
    this.onIdle = onIdle;
    this.end = end;
    this.since = now();
  }

  fed(bytes: number): void {
    this.#fresh += bytes;
    if (this.#fresh >= MIN_BYTES && this.since < Number.POSITIVE_INFINITY) this.restart();
  }

  restart(): void {
    this.#fresh = 0;
    this.since = this.#now();
  }

  /** We stop reading, until `restart`. */
  pause(): void {
    this.since = Number.POSITIVE_INFINITY;
  }
}
