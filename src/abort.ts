/** setTimeout takes no more than this; longer waits are made of several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits; throws the signal's reason as soon as it aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) await nap(Math.min(left, LONGEST_TIMER_MS), signal);
  signal.throwIfAborted();
}

function nap(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Lets signals, timers and sockets have their turn in the middle of long work; throws the signal's reason if it aborts. */
export async function takeTurn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
