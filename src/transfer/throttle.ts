import type { World } from '../world.ts';

/** Unused bandwidth that is older than this is lost, so that no long burst follows a pause. */
const BURST_MS = 250;

/**
 * Limits the bandwidth of all jobs together, for --limit-rate. Received bytes are due when they would have arrived at
 * that rate. A job that has received bytes early waits until they are due.
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

  /** Waits until `bytes` more bytes are due. */
  async delay(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    // If earlier bytes are not due yet, these bytes queue behind them, so `startsAt` is later than now.
    const startsAt = Math.max(this.#dueAt, now - BURST_MS);
    this.#dueAt = startsAt + bytes / this.#bytesPerMs;
    // If the bytes are already due, the duration is not positive, and `sleep` returns at once.
    await this.#clock.sleep(this.#dueAt - now, signal);
  }
}
