// Waits and other work that an AbortSignal ends, and time bounds that several files share. A signal can live as long as
// the run, so whoever adds a listener to one also removes it.
import { setMaxListeners } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';

/** How long the final output may take after SIGINT or the like, or after --deadline has passed, in milliseconds. */
export const FINAL_OUTPUT_GRACE_MS = 1000;
/** The longest delay that setTimeout accepts, in milliseconds: about 25 days. Longer waits end then. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `act` immediately if the signal has already aborted. Returns a function that removes the listener. */
export function onAbort(signal: AbortSignal, act: (reason: unknown) => void): () => void {
  const listener = () => act(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Node warns when a signal has more than ten listeners, and each download adds some. */
export function createAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** `parent` aborts it, too. Call `detach` at the end, or `parent`, which often lives longer, keeps the listener. */
export function createChildController(parent: AbortSignal) {
  const controller = createAbortController();
  const abort = (reason: unknown) => controller.abort(reason);
  return { signal: controller.signal, abort, detach: onAbort(parent, abort) };
}

/** Waits for `ms` milliseconds. Throws the signal's reason as soon as it aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Sleeps by the real clock. All other code calls the `sleep` of its `World` (world.ts), which tests replace. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // On abort, `setTimeout` rejects with an AbortError. It is ignored: the next line throws the signal's reason.
  if (ms > 0) await setTimeout(Math.min(ms, MAX_TIMER_MS), undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}

/** Calls `act` after `ms`, unless the function that it returns is called before. Pass the `sleep` of the `World`. */
export function startTimer(ms: number, sleep: Sleep, act: () => void): () => void {
  const timer = createAbortController();
  sleep(ms, timer.signal).then(act, () => {});
  return () => timer.abort();
}

/** The signal of `work` aborts after `ms`. `work` must obey it. */
export function withTimeLimit<T>(ms: number, sleep: Sleep, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = createAbortController();
  return work(limit.signal).finally(startTimer(ms, sleep, () => limit.abort()));
}

/** Waits for `work` for at most `ms` milliseconds, and returns undefined if it takes longer. It goes on then. */
export function waitAtMost<T>(ms: number, sleep: Sleep, work: Promise<T> | undefined): Promise<T | undefined> {
  const timer = createAbortController();
  // Stopping the timer rejects this promise, too late to have an effect on the race.
  const timeout = sleep(ms, timer.signal).then(() => undefined);
  return Promise.race([work, timeout]).finally(() => timer.abort());
}

/** Lets SIGINT, timers and sockets have their turn during long work. Throws the signal's reason if it has aborted. */
export async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
