import { setMaxListeners } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';

// How an abort reaches whatever waits. Each of these forgets the signal when it is done: it may live for a whole run.

/** setTimeout takes no more than this; longer waits are made of several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Does something as soon as the signal aborts, at once if it has; gives what calls that off. */
export function onAbort(signal: AbortSignal, act: (reason: unknown) => void): () => void {
  const listener = () => act(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/**
 * Returns a controller whose signal takes any number of listeners. The source has no other: with as many jobs as a user
 * likes, any signal may get more than the ten listeners after which Node writes a warning to stderr.
 */
export function createAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** What aborts with a signal, and can be aborted without it; after `letGo` its parent is nothing to it any more. */
export function childOf(parent: AbortSignal) {
  const controller = createAbortController();
  const abort = (reason: unknown) => controller.abort(reason);
  return { signal: controller.signal, abort, letGo: onAbort(parent, abort) };
}

/** Waits so many milliseconds; throws the signal's reason as soon as it aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** The real one, for the World alone: everybody else is handed theirs. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
    await setTimeout(Math.min(left, LONGEST_TIMER_MS), undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
}

/** So long have readers, after a signal or the deadline, to take what was still to be told. */
export const LAST_WORDS_MS = 1000;

/** Gives work so many milliseconds: its signal aborts then. */
export async function within<T>(ms: number, sleep: Sleep, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const [limit, ended] = [createAbortController(), createAbortController()];
  sleep(ms, ended.signal).then(
    () => limit.abort(),
    () => {},
  );
  return work(limit.signal).finally(() => ended.abort());
}

/** Lets signals, timers and sockets have their turn in the middle of long work; throws the signal's reason if it aborts. */
export async function takeTurn(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
