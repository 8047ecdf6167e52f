// `--max-bytes`, `--max-requests` and `--stop-after` decide when a run starts no more downloads and requests no more
// listings (the service's lists of the files of a filing). They never cancel a download in progress, so that every run
// makes progress. `--limit-rate` limits the bandwidth.
import { FilingsError } from '../errors.ts';
import type { Meter } from '../service/client.ts';
import { exactDuration, grouped } from '../text.ts';
import type { World } from '../world.ts';

/** A missing option is no limit. `stopAfter` is in milliseconds. */
type LimitOptions = { readonly [Name in 'maxBytes' | 'maxRequests' | 'stopAfter']?: number | undefined };

/**
 * Compares the bytes and requests of a run with the options. The counters are public, because the client of the service
 * and the downloads increase them.
 */
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

  /** The error for a limit that is reached. Undefined as long as downloads may start and listings may be requested. */
  get reachedError(): FilingsError | undefined {
    const { maxBytes = Infinity, maxRequests = Infinity, stopAfter = Infinity } = this.#options;
    if (this.requests >= maxRequests) return limitError(`request limit (${grouped(maxRequests)})`);
    if (this.bytes >= maxBytes) return limitError(`download limit (${grouped(maxBytes)} bytes)`);
    // The clock is read only if there is a time limit.
    const ms = stopAfter === Infinity ? 0 : this.#monotonic() - this.#startedAt;
    return ms >= stopAfter ? limitError(`time limit (${exactDuration(stopAfter)})`) : undefined;
  }
}

function limitError(limit: string): FilingsError {
  return new FilingsError('limit', `${limit} reached`, { stopsRun: true });
}

/** Unused bandwidth that is older than this is lost, so that no long burst follows a pause. */
const BURST_MS = 250;

/**
 * Limits the bandwidth of all jobs together. Received bytes are due when they would have arrived at the limited rate. A
 * job that has received bytes early waits until they are due.
 */
export class Throttle {
  readonly #bytesPerMs: number;
  readonly #clock: Pick<World, 'monotonic' | 'sleep'>;
  /** When the last of the bytes so far are due, by the monotonic clock. */
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number, clock: Pick<World, 'monotonic' | 'sleep'>) {
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#clock = clock;
  }

  /** Waits until `bytes` more bytes are due. Throws the signal's reason. */
  async delay(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    // If earlier bytes are not due yet, these bytes queue behind them, so `startsAt` is later than now.
    const startsAt = Math.max(this.#dueAt, now - BURST_MS);
    this.#dueAt = startsAt + bytes / this.#bytesPerMs;
    // If the bytes are already due, the duration is not positive, and `sleep` returns at once.
    await this.#clock.sleep(this.#dueAt - now, signal);
  }
}
