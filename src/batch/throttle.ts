import type { Watcher } from '../transfer/transfer.ts';
import type { World } from '../world.ts';
import type { Limits } from './limits.ts';

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

/** A watcher that counts a file's bytes, and holds them back where the bandwidth is limited. */
export function countedWatcher(
  shown: Watcher,
  limits: Limits,
  throttle: Throttle | undefined,
  signal: AbortSignal,
): Watcher {
  return {
    ...shown,
    moved(bytes) {
      limits.came(bytes);
      void shown.moved(bytes);
      return throttle?.moved(bytes, signal);
    },
  };
}
