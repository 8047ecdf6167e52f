// `--max-bytes`, `--max-requests` and `--stop-after` bound what a run starts, and `--limit-rate` its bandwidth. No limit
// ends a download in progress, so that every run makes progress.
import { FilingsError } from '../errors.ts';
import type { Meter } from '../service/client.ts';
import { grouped, inSeconds } from '../text.ts';
import type { World } from '../world.ts';

/** `stopAfter` is in milliseconds. */
type LimitOptions = { readonly [Name in 'maxBytes' | 'maxRequests' | 'stopAfter']?: number | undefined };

/** Counts what the options bound. */
export class Limits implements Meter {
  bytes = 0;
  requests = 0;
  readonly #options: LimitOptions;
  readonly #monotonic: () => number;
  readonly #startedAt: number;

  constructor(options: LimitOptions, monotonic: () => number) {
    this.#options = options;
    this.#monotonic = monotonic;
    this.#startedAt = monotonic();
  }

  /** The error of the limit that is reached, after which no download and no listing starts. */
  get reached(): FilingsError | undefined {
    const { maxBytes = Infinity, maxRequests = Infinity, stopAfter = Infinity } = this.#options;
    if (this.requests >= maxRequests) return limitError(`request limit (${grouped(maxRequests)})`);
    if (this.bytes >= maxBytes) return limitError(`download limit (${grouped(maxBytes)} bytes)`);
    const ms = stopAfter === Infinity ? 0 : this.#monotonic() - this.#startedAt;
    return ms >= stopAfter ? limitError(`time limit (${inSeconds(stopAfter)})`) : undefined;
  }
}

function limitError(limit: string): FilingsError {
  return new FilingsError('limit', `${limit} reached`, { stopsRun: true });
}

/** After a pause, bytes for this time pass without a delay. */
const BURST_SECONDS = 0.25;

/** Limits the bandwidth of all jobs together: each job waits until the bytes that it has received were due. */
export class Throttle {
  readonly #bytesPerMs: number;
  readonly #clock: Pick<World, 'monotonic' | 'sleep'>;
  /** The time until which the bandwidth is used up. */
  #usedUntil = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number, clock: Pick<World, 'monotonic' | 'sleep'>) {
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#clock = clock;
  }

  /** Waits until `bytes` more bytes were due. Throws the signal's reason. */
  async delay(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const start = Math.max(this.#usedUntil, now - BURST_SECONDS * 1000);
    this.#usedUntil = start + bytes / this.#bytesPerMs;
    await this.#clock.sleep(this.#usedUntil - now, signal);
  }
}
