import { onAbort } from '../src/abort.ts';
import type { World } from '../src/world.ts';

/** A clock that stands still until it is told how much time passes. */
export function heldClock() {
  let now = 0;
  const sleepers = new Set<{ readonly due: number; readonly wake: () => void }>();
  const sleep: World['sleep'] = (ms, signal) =>
    new Promise<void>((resolve, reject) => {
      const forget = onAbort(signal, reject);
      const sleeper = {
        due: now + ms,
        wake: () => {
          sleepers.delete(sleeper);
          forget();
          resolve();
        },
      };
      sleepers.add(sleeper);
    });
  return {
    monotonic: () => now,
    sleep,
    /** Whoever is due wakes, and has done what follows from it. */
    async pass(ms: number): Promise<void> {
      now += ms;
      for (const { due, wake } of [...sleepers]) if (due <= now) wake();
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
