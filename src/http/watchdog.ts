// The idle timeout (--idle-timeout). undici's own is not used, because a single byte now and then keeps it from firing,
// and because it fires while we pause the socket.
//
// One wait serves all exchanges. A timer of Node for each, aborted for nearly every file, takes 25 times as much CPU.
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
  #running: Promise<void> | undefined;

  constructor(timeoutMs: number, clock: Clock) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** The number of exchanges in progress. */
  get exchanges(): number {
    return this.#timers.size;
  }

  /** `onIdle` must call `end` of the timer, or it is called over and over. */
  watch(onIdle: () => void): IdleTimer {
    const timer = new IdleTimer(this.#clock.monotonic, onIdle, () => this.#timers.delete(timer));
    this.#timers.add(timer);
    // `#run` only ends when `close` makes its wait throw.
    this.#running ??= this.#run().catch(() => {});
    return timer;
  }

  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    const { monotonic, sleep } = this.#clock;
    for (;;) {
      const now = monotonic();
      // `now` stands for timers that start or continue during the wait.
      const dueAt = Math.min(now, ...[...this.#timers].map(({ activeAt }) => activeAt)) + this.#timeoutMs;
      await sleep(dueAt - now, this.#closed.signal);
      // When a suspended process continues, Node runs its timers before it reads its sockets, whose bytes should come
      // first.
      await yieldToEventLoop(this.#closed.signal);
      const checkedAt = monotonic();
      // While the process was suspended, no exchange could receive anything, so all of them get the full timeout again.
      // A suspension that was over before `dueAt` is not noticed.
      const wasSuspended = checkedAt - dueAt >= MIN_SUSPENSION_MS;
      for (const timer of [...this.#timers]) {
        // This is treated as activity. `restart` would also end the pause of a paused timer.
        if (wasSuspended) timer.addBytes(MIN_ACTIVE_BYTES);
        else if (checkedAt - timer.activeAt >= this.#timeoutMs) timer.onIdle();
      }
    }
  }
}

export class IdleTimer {
  readonly onIdle: () => void;
  readonly end: () => void;
  /** Infinite while the timer is paused. */
  activeAt: number;
  readonly #now: () => number;
  #bytes = 0;

  constructor(now: () => number, onIdle: () => void, end: () => void) {
    this.#now = now;
    this.onIdle = onIdle;
    this.end = end;
    this.activeAt = now();
  }

  /** While the timer is paused, it only counts. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= MIN_ACTIVE_BYTES && this.activeAt < Number.POSITIVE_INFINITY) this.restart();
  }

  restart(): void {
    this.#bytes = 0;
    this.activeAt = this.#now();
  }

  /** Until `restart`. */
  pause(): void {
    this.activeAt = Number.POSITIVE_INFINITY;
  }
}
