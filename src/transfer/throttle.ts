// Limits the bandwidth of all jobs together, for --limit-rate. Received bytes are due when they would have arrived at
// that rate. A job that has received bytes early waits until they are due.
import type { World } from '../world.ts';

/** Unused bandwidth that is older than this is lost, so that no long burst follows a pause. */
const BURST_MS = 250;

/** Waits until so many more bytes are due. */
export type Throttle = (bytes: number, signal: AbortSignal) => Promise<void>;

export function createThrottle(
  bytesPerSecond: number,
  { monotonic, sleep }: Pick<World, 'monotonic' | 'sleep'>,
): Throttle {
  // When the last of the bytes so far are due, by the monotonic clock.
  let dueAt = Number.NEGATIVE_INFINITY;
  return async (bytes, signal) => {
    const now = monotonic();
    // If earlier bytes are not due yet, these bytes queue behind them.
    const startsAt = Math.max(dueAt, now - BURST_MS);
    dueAt = startsAt + (bytes / bytesPerSecond) * 1000;
    // If the bytes are already due, the duration is not positive, and `sleep` returns at once.
    await sleep(dueAt - now, signal);
  };
}
