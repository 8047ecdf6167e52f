// Decides when each request of the process goes out, from the rate that the user allows, the pauses that the service
// asks for, and the outcomes of earlier requests.
//
// After a pause one request goes out alone. If the service does not refuse it, the others follow: all of them after the
// first pause, and after a further one only as many as the service accepted since the pause before, then gradually
// more. Without this bound a service that accepts ten requests a second would refuse all other jobs again and again,
// until their retries are used up.
import { createAbortController, onAbort } from '../abort.ts';
import type { World } from '../world.ts';

/** The longest time for which a request holds the others because it has no outcome, in milliseconds. */
const MAX_HOLD_MS = 5000;

type Clock = Pick<World, 'monotonic' | 'sleep'>;

/** Reports the outcome of a request. `wasSent` is false if the server closed the connection before the request. */
export type EndRequest = (wasSent?: boolean) => void;

interface Waiter {
  readonly wasRefused: boolean;
  readonly calledAt: number;
  readonly resolve: (endRequest: EndRequest) => void;
  readonly unsubscribe: () => void;
}

/** Times are in milliseconds of the monotonic clock. */
export class RateLimiter {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  /** When the rate allows the next request. */
  #nextAt = 0;
  #pausedUntil = 0;
  /** The number of pauses. A request remembers it, because its outcome counts only until the next pause. */
  #pauseCount = 0;
  /** The number of requests since the last pause that were sent, and the number of them that have an outcome. */
  #sentCount = 0;
  #outcomeCount = 0;
  #lastSentAt = 0;
  /** The number of requests that had an outcome between the last two pauses. */
  #acceptedCount = Number.POSITIVE_INFINITY;
  /** Requests that the service has refused before, and behind them the others, both in the order of the calls. */
  readonly #queue: Waiter[] = [];
  #timer: ReturnType<typeof createAbortController> | undefined;

  /** Without `ratePerSecond` there is no limit. */
  constructor(ratePerSecond: number | undefined, clock: Clock) {
    this.#intervalMs = ratePerSecond === undefined ? 0 : 1000 / ratePerSecond;
    this.#clock = clock;
  }

  /**
   * Waits until a request may go out. Returns a function that must be called when the request has an outcome. If the
   * response asks for a pause, `pause` must be called first. Throws the signal's reason.
   */
  acquire(signal: AbortSignal, wasRefused = false): Promise<EndRequest> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const unsubscribe = onAbort(signal, (reason) => {
        this.#queue.splice(this.#queue.indexOf(waiter), 1);
        this.#admit();
        reject(reason);
      });
      const waiter = { wasRefused, calledAt: this.#clock.monotonic(), resolve, unsubscribe };
      const at = wasRefused ? this.#queue.findIndex((other) => !other.wasRefused) : -1;
      this.#queue.splice(at < 0 ? this.#queue.length : at, 0, waiter);
      this.#admit();
    });
  }

  /** No request goes out for the next `ms`, and then one alone. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + ms);
    this.#pauseCount += 1;
    // The service may refuse several jobs at once.
    if (this.#outcomeCount > 0) this.#acceptedCount = this.#outcomeCount;
    this.#sentCount = 0;
    this.#outcomeCount = 0;
    this.#admit();
  }

  /** Admits all requests that may go now, and calls itself when the next one may go. */
  #admit(now = this.#clock.monotonic()): void {
    this.#timer?.abort();
    this.#timer = undefined;
    for (;;) {
      const [waiter] = this.#queue;
      if (waiter === undefined) return;
      const opensAt = this.#opensAt();
      if (opensAt > now) {
        this.#timer = createAbortController();
        // A timer may fire a moment early.
        const onTime = () => this.#admit(Math.max(opensAt, this.#clock.monotonic()));
        this.#clock.sleep(opensAt - now, this.#timer.signal).then(onTime, () => {});
        return;
      }
      this.#queue.shift();
      waiter.unsubscribe();
      // Counts from the time at which the request could go, so that a timer that fires late does not lower the rate.
      this.#nextAt = Math.max(waiter.calledAt, opensAt) + this.#intervalMs;
      waiter.resolve(this.#beginRequest());
    }
  }

  #opensAt(): number {
    const opensAt = Math.max(this.#pausedUntil, this.#nextAt);
    return this.#hasRoom() ? opensAt : Math.max(opensAt, this.#lastSentAt + MAX_HOLD_MS);
  }

  #hasRoom(): boolean {
    if (this.#pauseCount === 0 || this.#sentCount === 0) return true;
    if (this.#outcomeCount === 0) return false;
    const inFlight = this.#sentCount - this.#outcomeCount;
    return (
      this.#sentCount < this.#acceptedCount || inFlight < 1 + Math.max(0, this.#outcomeCount - this.#acceptedCount) / 2
    );
  }

  #beginRequest(): EndRequest {
    const pauses = this.#pauseCount;
    this.#sentCount += 1;
    this.#lastSentAt = this.#clock.monotonic();
    return (wasSent = true) => {
      if (pauses !== this.#pauseCount) return;
      if (wasSent) this.#outcomeCount += 1;
      else this.#sentCount -= 1;
      // The requests that waited for this outcome keep the rate, too.
      this.#nextAt = Math.max(this.#nextAt, this.#clock.monotonic());
      this.#admit();
    };
  }
}
