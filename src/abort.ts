// Ends waits and work when an abort signal fires. A signal can live as long as the run, so each of these functions
// removes its listener when it is done.
import { setMaxListeners } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';

/** The longest delay that setTimeout accepts, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
/** How long synchronous work may block the event loop before it must yield, in milliseconds. */
export const MAX_SLICE_MS = 10;

/** Calls `act` when the signal aborts, or immediately if it already has. Returns an unsubscribe function. */
export function onAbort(signal: AbortSignal, act: (reason: unknown) => void): () => void {
  const listener = () => act(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/**
 * Use this instead of `new AbortController()`. Each job adds listeners, and Node prints a warning when a signal has
 * more than ten.
 */
export function createAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Returns a controller that also aborts when `parent` does, until `detach` is called. */
export function createChildController(parent: AbortSignal) {
  const controller = createAbortController();
  const abort = (reason: unknown) => controller.abort(reason);
  return { signal: controller.signal, abort, detach: onAbort(parent, abort) };
}

/** Waits for `ms` milliseconds. Throws the signal's reason as soon as it aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Sleeps by the real clock. All other code gets its `Sleep` from the World, where tests replace it. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // A wait that is too long for one timer is split into several.
  for (let left = ms; left > 0; left -= MAX_TIMER_MS) {
    // Its AbortError is ignored, because the signal's reason is thrown instead.
    await setTimeout(Math.min(left, MAX_TIMER_MS), undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
}

/** How long the final output may take after a signal or the deadline, in milliseconds. */
export const FINAL_OUTPUT_GRACE_MS = 1000;

/** Calls `work` with a signal that aborts after `ms` milliseconds. Returns the result of `work`. */
export function withTimeLimit<T>(ms: number, sleep: Sleep, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const [limit, ended] = [createAbortController(), createAbortController()];
  sleep(ms, ended.signal).then(
    () => limit.abort(),
    () => {},
  );
  return work(limit.signal).finally(() => ended.abort());
}

/** Lets signals, timers and sockets have their turn during long work. Throws the signal's reason if it has aborted. */
export async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
