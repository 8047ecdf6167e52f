// The idle timeout (--idle-timeout): ends exchanges (a request and its response) that receive too few bytes. undici's
// own timeout is not used, because a single byte now and then keeps it from firing, and because it fires while we pause
// the socket.
//
// One wait of the watchdog serves all exchanges, so the IdleTimer of an exchange is no timer of Node. It only knows
// when the exchange was last active. If each exchange had its own timer of Node, which would be aborted for nearly
// every file, the timers would need 25 times as much CPU time.
import { createAbortController, yieldToEventLoop } from '../abort.ts';
import type { World } from '../world.ts';

type Clock = Pick<World, 'monotonic' | 'sleep'>;

/** An exchange that receives fewer new bytes within the timeout is treated as idle. */
export const MIN_ACTIVE_BYTES = 1000;
/** If a wait takes this much longer than it should, the process was suspended or the machine slept. */
const MIN_SUSPENSION_MS = 1000;

export class Watchdog {
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #timers = new Set<IdleTimer>();
  readonly #closed = createAbortController();
  /** Set once `#run` has started. Nothing waits for it. */
  #running: Promise<void> | undefined;

  constructor(timeoutMs: number, clock: Clock) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /**
   * Starts a timer, which runs until its `end` is called. Calls `onIdle` when the timeout has passed without enough
   * bytes. `onIdle` must call `end` of the timer, or it is called over and over.
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
      // The wait ends when the first timer may be due. `now` stands for timers that start or continue during the wait:
      // none of them is due before a full timeout has passed.
      const dueAt = Math.min(now, ...[...this.#timers].map(({ activeAt }) => activeAt)) + this.#timeoutMs;
      await sleep(dueAt - now, this.#closed.signal);
      // When a suspended process continues, Node runs its timers before it reads its sockets, whose bytes should come
      // first.
      await yieldToEventLoop(this.#closed.signal);
      const checkedAt = monotonic();
      // While the process was suspended, no exchange could receive anything. So all of them get the full timeout again.
      // A suspension that was over before `dueAt` is not noticed, and leaves them only the rest of the timeout.
      const wasSuspended = checkedAt - dueAt >= MIN_SUSPENSION_MS;
      for (const timer of [...this.#timers]) {
        // Pretends that enough bytes have arrived, so that the timer restarts. Calling `restart` instead would also end
        // the pause of a paused timer.
        if (wasSuspended) timer.addBytes(MIN_ACTIVE_BYTES);
        else if (checkedAt - timer.activeAt >= this.#timeoutMs) timer.onIdle();
      }
    }
  }
}

/** Knows when one exchange was last active. The exchange and its Body call the methods. */
export class IdleTimer {
  readonly onIdle: () => void;
  /** Makes the watchdog forget the timer. */
  readonly end: () => void;
  /** When the exchange was last active, in milliseconds on the monotonic clock. Infinite while the timer is paused. */
  activeAt: number;
  readonly #now: () => number;
  /** The bytes since the exchange was last active. */
  #bytes = 0;

  constructor(now: () => number, onIdle: () => void, end: () => void) {
    this.#now = now;
    this.onIdle = onIdle;
    this.end = end;
    this.activeAt = now();
  }

  /** Counts received bytes, and restarts the timer if they are enough. While the timer is paused, it only counts. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= MIN_ACTIVE_BYTES && this.activeAt < Number.POSITIVE_INFINITY) this.restart();
  }

  restart(): void {
    this.#bytes = 0;
    this.activeAt = this.#now();
  }

  /** Pauses the timer until `restart` is called. Call this when the socket is paused, because nothing arrives then. */
  pause(): void {
    this.activeAt = Number.POSITIVE_INFINITY;
  }
}
