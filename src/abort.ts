// Connects abort signals to work that waits. A signal may live for a whole run, so each of these functions removes its
// listener when it is done.
import { setMaxListeners } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';

/** The longest delay that setTimeout accepts, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
/** The maximum time of synchronous work between two yields to the event loop, in milliseconds. */
export const MAX_SLICE_MS = 10;

/** Calls `act` when the signal aborts, at once if it already has. Returns an unsubscribe function. */
export function onAbort(signal: AbortSignal, act: (reason: unknown) => void): () => void {
  const listener = () => act(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/**
 * Returns a controller whose signal accepts any number of listeners. The whole source uses this function: the number of
 * jobs is the user's choice, and from eleven listeners on Node would print a warning.
 */
export function createAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Returns a controller that also aborts when `parent` does, until `detach` is called. */
export function childOf(parent: AbortSignal) {
  const controller = createAbortController();
  const abort = (reason: unknown) => controller.abort(reason);
  return { signal: controller.signal, abort, detach: onAbort(parent, abort) };
}

/** Waits for `ms` milliseconds. Throws the signal's reason as soon as it aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/**
 * The real clock's `Sleep`, for the World alone. All other code gets its `Sleep` from the World. A wait that is too
 * long for a timer consists of several timers.
 */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= MAX_TIMER_MS) {
    await setTimeout(Math.min(left, MAX_TIMER_MS), undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
}

/** Grace period for final output after a signal or the deadline, in milliseconds. */
export const FINAL_OUTPUT_GRACE_MS = 1000;

/** Runs `work` with a signal that aborts after `ms` milliseconds. */
export async function within<T>(ms: number, sleep: Sleep, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const [limit, ended] = [createAbortController(), createAbortController()];
  sleep(ms, ended.signal).then(
    () => limit.abort(),
    () => {},
  );
  return work(limit.signal).finally(() => ended.abort());
}

/** Yields to signals, timers and sockets during long work. Throws the signal's reason if it has aborted. */
export async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
