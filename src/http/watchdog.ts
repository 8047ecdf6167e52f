/** Fewer new bytes than this within the idle time count as idle (a drip is a stall). */
const LEAST_BYTES = 1000;
/** A timer that fires this much later than it should: the process was stopped, or the machine slept. */
const STOPPED_MS = 1000;

/**
 * Fires when the peer brings fewer than 1,000 new bytes in `idleMs` while more are
 * due. Time in which we hold the socket back is not the peer's.
 */
export class Watchdog {
  readonly #idleMs: number;
  readonly #now: () => number;
  readonly #onIdle: () => void;
  #stop: (() => void) | undefined;
  #since = 0;
  #fresh = 0;

  constructor(idleMs: number, now: () => number, onIdle: () => void) {
    this.#idleMs = idleMs;
    this.#now = now;
    this.#onIdle = onIdle;
    this.resume();
  }

  /** Bytes arrived. */
  fed(bytes: number): void {
    this.#fresh += bytes;
    if (this.#fresh >= LEAST_BYTES) this.restart();
  }

  /** Something other than bytes shows that the peer is there. */
  restart(): void {
    this.#fresh = 0;
    this.#since = this.#now();
  }

  /** We stop reading: the clock stands still. */
  pause(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** We read again: the peer has the whole time anew. */
  resume(): void {
    if (this.#stop) return;
    this.restart();
    this.#arm(this.#idleMs);
  }

  #arm(ms: number): void {
    this.#stop = startTimer(ms, this.#now, () => {
      this.#stop = undefined;
      const left = this.#since + this.#idleMs - this.#now();
      if (left <= 0) this.#onIdle();
      else this.#arm(left);
    });
  }
}

/**
 * Calls back after `ms` milliseconds in which this program could have seen something happen; gives what stops it. A
 * timer that fires late proves nothing, since nobody was awake to wait: it begins anew. And what had come by then is
 * read before the verdict: after a stop timers have their turn before sockets.
 */
export function startTimer(ms: number, now: () => number, onTime: () => void): () => void {
  let timer: NodeJS.Timeout;
  let turn: NodeJS.Immediate | undefined;
  const arm = () => {
    const due = now() + ms;
    timer = setTimeout(() => {
      if (now() - due >= STOPPED_MS) arm();
      else turn = setImmediate(onTime);
    }, ms);
  };
  arm();
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}
