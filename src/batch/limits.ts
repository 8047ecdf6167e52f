import { FilingsError } from '../errors.ts';
import type { Meter } from '../service/client.ts';
import { grouped } from '../text.ts';
import type { World } from '../world.ts';

/** The limits that a user sets for a run. */
export interface LimitOptions {
  /** Body bytes received, listings and repeats included. */
  readonly maxBytes?: number | undefined;
  /** Every request counts: listings, tries and redirects too. */
  readonly maxRequests?: number | undefined;
  /** Milliseconds after which no new download starts. */
  readonly stopAfter?: number | undefined;
}

/**
 * What a run has used of its limits. They are asked before a download starts, and never end one that is under way. Until
 * one download of a missing file has started none is reached, so that every run makes progress.
 */
export class Limits implements Meter {
  bytes = 0;
  requests = 0;
  hasStarted = false;
  readonly #options: LimitOptions;
  readonly #monotonic: () => number;
  readonly #began: number;

  /** `monotonic`: milliseconds of a clock that never steps. */
  constructor(options: LimitOptions, monotonic: () => number) {
    this.#options = options;
    this.#monotonic = monotonic;
    this.#began = monotonic();
  }

  /** What keeps a new download from starting, if anything does. */
  reached(): FilingsError | undefined {
    const { maxBytes = Infinity, maxRequests = Infinity, stopAfter = Infinity } = this.#options;
    if (!this.hasStarted) return undefined;
    if (this.#monotonic() - this.#began >= stopAfter) return limitReached(`time limit (${stopAfter / 1000} s)`);
    if (this.requests >= maxRequests) return limitReached(`request limit (${grouped(maxRequests)})`);
    return this.bytes >= maxBytes ? limitReached(`download limit (${grouped(maxBytes)} bytes)`) : undefined;
  }
}

function limitReached(limit: string): FilingsError {
  return new FilingsError('limit', `${limit} reached`, { hint: 'run again to continue', stopsRun: true });
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
