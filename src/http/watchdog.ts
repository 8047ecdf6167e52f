// The idle timeout (--idle-timeout): ends exchanges that receive too few bytes. undici's own timeout is not used,
// because a single byte now and then keeps it from firing, and because it fires while we pause the socket.
//
// One wait serves all exchanges. If each had its own timer, which would be aborted for nearly every file, the timers
// would need 25 times as much CPU time.
import { createAbortController, yieldToEventLoop } from '../abort.ts';
import type { World } from '../world.ts';

type Clock = Pick<World, 'monotonic' | 'sleep'>;

/** Fewer new bytes within the timeout are treated as idle. */
export const MIN_ACTIVE_BYTES = 1000;
/** If a wait ends this much too late, the process was suspended or the machine slept. */
const MIN_SUSPENSION_MS = 1000;

export class Watchdog {
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #timers = new Set<IdleTimer>();
  readonly #closed = createAbortController();
  #running: Promise<void> | undefined;

  constructor(timeoutMs: number, clock: Clock) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /**
   * Starts a timer, which runs until its `end` is called. Calls `onIdle` when the timeout has passed without enough
   * bytes. `onIdle` must call `end`, or it is called again and again.
   */
  watch(onIdle: () => void): IdleTimer {
    const timer = new IdleTimer(this.#clock.monotonic, onIdle, () => this.#timers.delete(timer));
    this.#timers.add(timer);
    // `#run` only ends when `close` makes its wait throw.
    this.#running ??= this.#run().catch(() => {});
    return timer;
  }

  /** Stops watching all timers. */
  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    const { monotonic, sleep } = this.#clock;
    for (;;) {
      const now = monotonic();
      const dueAt = Math.min(now, ...[...this.#timers].map(({ activeAt }) => activeAt)) + this.#timeoutMs;
      await sleep(dueAt - now, this.#closed.signal);
      // When a suspended process continues, Node runs its timers before it reads its sockets, whose bytes should come
      // first.
      await yieldToEventLoop(this.#closed.signal);
      const checkedAt = monotonic();
      // While the process was suspended, no exchange could receive anything. So all of them get the full timeout again.
      const wasSuspended = checkedAt - dueAt >= MIN_SUSPENSION_MS;
      for (const timer of [...this.#timers]) {
        // Unlike `restart`, this leaves a paused timer paused.
        if (wasSuspended) timer.addBytes(MIN_ACTIVE_BYTES);
        else if (checkedAt - timer.activeAt >= this.#timeoutMs) timer.onIdle();
      }
    }
  }
}

/** Knows when one exchange was last active. */
export class IdleTimer {
  readonly onIdle: () => void;
  readonly end: () => void;
  /** When the exchange was last active, in milliseconds on the monotonic clock. Infinite while the timer is paused. */
  activeAt: number;
  readonly #now: () => number;
  #bytes = 0;

  constructor(now: () => number, onIdle: () => void, end: () => void) {
    this.#now = now;
    this.onIdle = onIdle;
    this.end = end;
    this.activeAt = now();
  }

  /** Counts received bytes, and restarts the timer if they are enough. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= MIN_ACTIVE_BYTES && this.activeAt < Number.POSITIVE_INFINITY) this.restart();
  }

  restart(): void {
    this.#bytes = 0;
    this.activeAt = this.#now();
  }

  /** Pauses the timer until `restart` is called. It must be paused with the socket, which then receives nothing. */
  pause(): void {
    this.activeAt = Number.POSITIVE_INFINITY;
  }
}
