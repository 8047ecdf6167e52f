import { FilingsError } from '../errors.ts';
import { grouped } from '../text.ts';
import type { World } from '../world.ts';

/** The limits that a user sets for a run; what is undefined has none. */
export interface LimitOptions {
  /** Body bytes received, listings and repeats included. */
  readonly maxBytes?: number | undefined;
  /** Every request counts: listings, tries and redirects too. */
  readonly maxRequests?: number | undefined;
  /** Milliseconds after which no new download starts. */
  readonly stopAfterMs?: number | undefined;
}

/**
 * What a run has used of its limits. They are asked before a download starts, and never end one that is under way. Until
 * one download of a missing file has started none is reached, so that every run makes progress.
 */
export class Limits {
  readonly #options: LimitOptions;
  readonly #monotonic: () => number;
  readonly #began: number;
  #bytes = 0;
  #requests = 0;
  #hasStarted = false;

  /** `monotonic`: milliseconds of a clock that never steps. */
  constructor(options: LimitOptions, monotonic: () => number) {
    this.#options = options;
    this.#monotonic = monotonic;
    this.#began = monotonic();
  }

  get bytes(): number {
    return this.#bytes;
  }

  get requests(): number {
    return this.#requests;
  }

  /** A request is about to go out. */
  request(): void {
    this.#requests += 1;
  }

  /** So many body bytes came. */
  came(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The download of a file that was missing starts. */
  started(): void {
    this.#hasStarted = true;
  }

  /** What keeps a new download from starting, if anything does. */
  reached(): FilingsError | undefined {
    const { maxBytes, maxRequests, stopAfterMs } = this.#options;
    if (!this.#hasStarted) return undefined;
    if (stopAfterMs !== undefined && this.#monotonic() - this.#began >= stopAfterMs) {
      return limitReached(`time limit (${stopAfterMs / 1000} s) reached`);
    }
    if (maxRequests !== undefined && this.#requests >= maxRequests) {
      return limitReached(`request limit (${grouped(maxRequests)}) reached`);
    }
    if (maxBytes !== undefined && this.#bytes >= maxBytes) {
      return limitReached(`download limit (${grouped(maxBytes)} bytes) reached`);
    }
    return undefined;
  }
}

function limitReached(message: string): FilingsError {
  return new FilingsError('limit', message, { hint: 'run again to continue', stopsRun: true });
}

/** So much may go at once after a pause: a quarter of a second's worth. */
const BURST_SECONDS = 0.25;

/** One bandwidth for all jobs together: `--limit-rate`. Whoever has moved bytes waits until they were due. */
export class Throttle {
  readonly #bytesPerMs: number;
  readonly #clock: Pick<World, 'monotonic' | 'sleep'>;
  /** Until when the bytes that were moved use up the bandwidth. */
  #usedUntil = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number, clock: Pick<World, 'monotonic' | 'sleep'>) {
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#clock = clock;
  }

  /** Waits as long as these bytes take at the rate, behind those of other jobs. Throws the signal's reason. */
  async moved(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const from = Math.max(this.#usedUntil, now - BURST_SECONDS * 1000);
    this.#usedUntil = from + bytes / this.#bytesPerMs;
    await this.#clock.sleep(this.#usedUntil - now, signal);
  }
}
