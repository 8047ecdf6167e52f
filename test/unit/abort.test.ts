import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { childOf, sleep } from '../../src/abort.ts';

const REASON = new Error('the reason');
const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

test('a child aborts with its parent, for its reason, also when that is over; or without it; let go, no more', () => {
  const parent = new AbortController();
  const [child, alone, free] = [childOf(parent.signal), childOf(parent.signal), childOf(parent.signal)];
  alone.abort('own');
  free.letGo();
  expect([parent.signal.aborted, child.signal.aborted, listeners(parent)]).toEqual([false, false, 2]);
  parent.abort(REASON);
  const reasons = [child, alone, childOf(parent.signal)].map(({ signal }) => signal.reason);
  expect([reasons, free.signal.aborted]).toEqual([[REASON, 'own', REASON], false]);
});

test('sleep ends with the reason, and leaves no listener', async () => {
  const parent = new AbortController();
  for (const ms of [0, -5, 1]) await sleep(ms, parent.signal);
  // More than a timer takes: Node would warn, and wake at once.
  using warned = vi.spyOn(process, 'emitWarning');
  const slept = sleep(2 ** 40, parent.signal);
  parent.abort(REASON);
  await expect(slept).rejects.toBe(REASON);
  expect(warned).not.toHaveBeenCalled();
  expect(listeners(parent)).toBe(0);
  await expect(sleep(0, parent.signal)).rejects.toBe(REASON);
});
