import { createAbortController, onAbort } from '../abort.ts';
import type { World } from '../world.ts';

// Decides when each request of the process goes out, from the rate that the user allows, the pauses that the service asks
// for, and the outcomes of earlier requests.
//
// After a pause one request goes out alone. If the service does not refuse it, the others follow: all of them after the
// first pause, and after a further one only as many as the service took since the pause before it, then gradually more.
// Without this bound a service that takes ten requests a second would refuse all other jobs again and again, until their
// retries are used up.

/** The longest time for which a request holds the others because it has no outcome, in milliseconds. */
const MAX_HOLD_MS = 5000;

type Clock = Pick<World, 'monotonic' | 'sleep'>;

/** `wasSent` is false if the server closed the connection before the request reached it. */
export type EndTurn = (wasSent?: boolean) => void;

interface Waiter {
  readonly calledAt: number;
  readonly resolve: (endTurn: EndTurn) => void;
  readonly unsubscribe: () => void;
}

/** Times are in milliseconds of a clock that never steps. */
export class RateLimiter {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  /** When the rate allows the next request. */
  #next = 0;
  #pausedUntil = 0;
  /** Counts the pauses: tells in front of which of them a request was sent. */
  #pauses = 0;
  /** Requests since the last pause: those that were sent, and those of them that have an outcome. */
  #sent = 0;
  #ended = 0;
  #lastSentAt = 0;
  /** The value of `#ended` at the end of the last period between two pauses. */
  #taken = Number.POSITIVE_INFINITY;
  /** In the order of the calls. Requests that the service has refused before go first. */
  readonly #refused: Waiter[] = [];
  readonly #waiting: Waiter[] = [];
  #timer = createAbortController();

  /** Without `ratePerSecond` there is no limit. */
  constructor(ratePerSecond: number | undefined, clock: Clock) {
    this.#intervalMs = ratePerSecond === undefined ? 0 : 1000 / ratePerSecond;
    this.#clock = clock;
  }

  /**
   * Waits until a request may go out. Returns a function that must be called when the request has an outcome; if its
   * answer asks for a pause, `pause` must be called first. Throws the signal's reason.
   */
  acquire(signal: AbortSignal, wasRefused = false): Promise<EndTurn> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const line = wasRefused ? this.#refused : this.#waiting;
      const unsubscribe = onAbort(signal, (reason) => {
        line.splice(line.indexOf(waiter), 1);
        this.#admit();
        reject(reason);
      });
      const waiter = { calledAt: this.#clock.monotonic(), resolve, unsubscribe };
      line.push(waiter);
      this.#admit();
    });
  }

  /** No request goes out for the next `ms`, and then one alone. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + ms);
    this.#pauses += 1;
    // The service may refuse several jobs at once.
    if (this.#ended > 0) this.#taken = this.#ended;
    this.#sent = 0;
    this.#ended = 0;
    this.#admit();
  }

  /** Lets out all requests that may go now, and comes back for the next one when that may go. */
  #admit(now = this.#clock.monotonic()): void {
    this.#timer.abort();
    for (;;) {
      const line = this.#refused.length > 0 ? this.#refused : this.#waiting;
      const [waiter] = line;
      if (waiter === undefined) return;
      const opensAt = this.#opensAt();
      if (opensAt > now) {
        this.#timer = createAbortController();
        // A timer may fire a moment early.
        const onTime = () => this.#admit(Math.max(opensAt, this.#clock.monotonic()));
        this.#clock.sleep(opensAt - now, this.#timer.signal).then(onTime, () => {});
        return;
      }
      line.shift();
      waiter.unsubscribe();
      // From the time at which it could go, not from now: a timer that fires late does not lower the rate.
      this.#next = Math.max(waiter.calledAt, opensAt) + this.#intervalMs;
      waiter.resolve(this.#beginTurn());
    }
  }

  #opensAt(): number {
    const opensAt = Math.max(this.#pausedUntil, this.#next);
    return this.#hasRoom() ? opensAt : Math.max(opensAt, this.#lastSentAt + MAX_HOLD_MS);
  }

  #hasRoom(): boolean {
    if (this.#pauses === 0 || this.#sent === 0) return true;
    if (this.#ended === 0) return false;
    const inFlight = this.#sent - this.#ended;
    return this.#sent < this.#taken || inFlight < 1 + Math.max(0, this.#ended - this.#taken) / 2;
  }

  #beginTurn(): EndTurn {
    const pauses = this.#pauses;
    this.#sent += 1;
    this.#lastSentAt = this.#clock.monotonic();
    return (wasSent = true) => {
      if (pauses !== this.#pauses) return;
      if (wasSent) this.#ended += 1;
      else this.#sent -= 1;
      // The requests that waited for this outcome keep the rate, too.
      this.#next = Math.max(this.#next, this.#clock.monotonic());
      this.#admit();
    };
  }
}
