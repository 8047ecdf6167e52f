import { FilingsError } from '../errors.ts';
import type { Meter } from '../service/client.ts';
import { grouped } from '../text.ts';
import type { World } from '../world.ts';

interface LimitOptions {
  readonly maxBytes?: number | undefined;
  readonly maxRequests?: number | undefined;
  /** Milliseconds. */
  readonly stopAfter?: number | undefined;
}

/**
 * Never ends a download that is under way. Until one of a missing file has started no limit is reached, so that every
 * run makes progress.
 */
export class Limits implements Meter {
  bytes = 0;
  requests = 0;
  hasStarted = false;
  readonly #options: LimitOptions;
  readonly #monotonic: () => number;
  readonly #began: number;

  constructor(options: LimitOptions, monotonic: () => number) {
    this.#options = options;
    this.#monotonic = monotonic;
    this.#began = monotonic();
  }

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

/** Goes at once after a pause. */
const BURST_SECONDS = 0.25;

/** Shared by all jobs: whoever has received bytes waits until they were due. */
export class Throttle {
  readonly #bytesPerMs: number;
  readonly #clock: Pick<World, 'monotonic' | 'sleep'>;
  /** Until then the bandwidth is used up. */
  #usedUntil = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number, clock: Pick<World, 'monotonic' | 'sleep'>) {
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#clock = clock;
  }

  async received(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const from = Math.max(this.#usedUntil, now - BURST_SECONDS * 1000);
    this.#usedUntil = from + bytes / this.#bytesPerMs;
    await this.#clock.sleep(this.#usedUntil - now, signal);
  }
}
