import { onAbort } from '../src/abort.ts';
import type { World } from '../src/world.ts';

/** A clock that moves only by `pass`. */
export function heldClock() {
  let now = 0;
  const sleepers = new Set<{ readonly due: number; readonly wake: () => void }>();
  const sleep: World['sleep'] = (ms, signal) =>
    new Promise<void>((resolve, reject) => {
      const sleeper = {
        due: now + ms,
        wake: () => {
          sleepers.delete(sleeper);
          unsubscribe();
          resolve();
        },
      };
      sleepers.add(sleeper);
      const unsubscribe = onAbort(signal, (reason) => {
        sleepers.delete(sleeper);
        reject(reason);
      });
    });
  return {
    monotonic: () => now,
    sleep,
    /** The number of sleeps that have not ended. */
    sleeping: () => sleepers.size,
    /** Moves the clock, wakes the sleeps that are due, and waits three turns of the event loop for their effects. */
    async pass(ms: number): Promise<void> {
      now += ms;
      for (const { due, wake } of [...sleepers]) if (due <= now) wake();
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
