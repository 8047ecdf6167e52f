// Decides when each request of the process is sent: by the rate that the user allows (--rate) and the pauses that the
// service asks for (Retry-After). All jobs share one limiter.
//
// After a pause, one request is sent alone. If the service does not refuse it, as many follow as the service accepted
// before the pause, and then gradually more. Suppose that it accepts ten requests, and that 50 jobs wait for the end of
// the pause. If all of them sent their requests, 40 would be refused again after each pause, until their retries were
// used up.
//
// A request has its outcome when the head of its response has arrived, or when it has failed. Unless the service asks
// for a pause, it is treated as accepted, even with a status of 404.
import { onAbort, startTimer } from '../abort.ts';
import type { World } from '../world.ts';

/** How long a request waits at most for the outcome of the last one, so that a slow response does not stop the run. */
const MAX_HOLD_MS = 5000;

type Clock = Pick<World, 'monotonic' | 'sleep'>;

/** `wasAnswered` is false if the request is sent again because the server closed the connection without a response. */
export type EndRequest = (wasAnswered?: boolean) => void;

interface Waiter {
  readonly wasRefused: boolean;
  readonly calledAt: number;
  readonly resolve: (endRequest: EndRequest) => void;
  readonly unsubscribe: () => void;
}

/** All times are in milliseconds on the monotonic clock. */
export class RateLimiter {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  /** The time from which the rate allows the next request. */
  #nextAt = 0;
  #pausedUntil = 0;
  #pauseCount = 0;
  /** Since the last pause. */
  #sentCount = 0;
  #outcomeCount = 0;
  #lastSentAt = 0;
  /**
   * How many requests the service accepted between the last two pauses. A pause before which it accepted none does not
   * change this number.
   */
  #acceptedCount = Number.POSITIVE_INFINITY;
  /** Those that the service has refused before come first. */
  readonly #queue: Waiter[] = [];
  #stopTimer = () => {};

  constructor(ratePerSecond: number | undefined, clock: Clock) {
    this.#intervalMs = ratePerSecond === undefined ? 0 : 1000 / ratePerSecond;
    this.#clock = clock;
  }

  /**
   * Call the result when the request has its outcome. If the response asks for a pause, call `pause` first, so that
   * this request is not counted as accepted.
   */
  acquire(signal: AbortSignal, wasRefused = false): Promise<EndRequest> {
    return new Promise((resolve, reject) => {
      // If the signal has already aborted, `onAbort` would call its function at once, before `waiter` exists.
      signal.throwIfAborted();
      const unsubscribe = onAbort(signal, (reason) => {
        // The waiter is still in the queue, because `#admit` unsubscribes each waiter that it removes.
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

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + ms);
    this.#pauseCount += 1;
    // If the service refuses several jobs at once, each of them calls this method. The first call sets the count to 0,
    // so the others leave `#acceptedCount` as it is.
    if (this.#outcomeCount > 0) this.#acceptedCount = this.#outcomeCount;
    this.#sentCount = 0;
    this.#outcomeCount = 0;
    this.#admit();
  }

  #admit(now = this.#clock.monotonic()): void {
    this.#stopTimer();
    for (;;) {
      const [waiter] = this.#queue;
      if (waiter === undefined) return;
      const opensAt = this.#opensAt();
      if (opensAt > now) {
        // The timer may fire a moment early. Without `max`, the request would then have to wait for another timer.
        const onTime = () => this.#admit(Math.max(opensAt, this.#clock.monotonic()));
        this.#stopTimer = startTimer(opensAt - now, this.#clock.sleep, onTime);
        return;
      }
      this.#queue.shift();
      waiter.unsubscribe();
      // The interval begins when the request could have been sent, so that a late timer does not lower the rate.
      this.#nextAt = Math.max(waiter.calledAt, opensAt) + this.#intervalMs;
      waiter.resolve(this.#beginRequest());
    }
  }

  #opensAt(): number {
    const opensAt = Math.max(this.#pausedUntil, this.#nextAt);
    return this.#mayFollow() ? opensAt : Math.max(opensAt, this.#lastSentAt + MAX_HOLD_MS);
  }

  #mayFollow(): boolean {
    if (this.#pauseCount === 0 || this.#sentCount === 0) return true;
    // The first request after a pause is sent alone.
    if (this.#outcomeCount === 0) return false;
    if (this.#sentCount < this.#acceptedCount) return true;
    // From here on, requests go one at a time at first. Every two outcomes beyond `#acceptedCount` allow one more in
    // flight.
    const inFlight = this.#sentCount - this.#outcomeCount;
    return inFlight < 1 + Math.max(0, this.#outcomeCount - this.#acceptedCount) / 2;
  }

  #beginRequest(): EndRequest {
    const pauseCount = this.#pauseCount;
    this.#sentCount += 1;
    this.#lastSentAt = this.#clock.monotonic();
    return (wasAnswered = true) => {
      // An outcome from before a pause says nothing about what the service accepts after it.
      if (pauseCount !== this.#pauseCount) return;
      // A request without an outcome says nothing either, so another one takes its place.
      if (wasAnswered) this.#outcomeCount += 1;
      else this.#sentCount -= 1;
      // Requests may have waited long for this outcome, with `#nextAt` long past. Each of them moves it on by only one
      // interval, so without this line all of them would go at once, whatever the rate is.
      this.#nextAt = Math.max(this.#nextAt, this.#clock.monotonic());
      this.#admit();
    };
  }
}
