import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { createChildController, sleep } from '../../src/abort.ts';

const REASON = new Error('the reason');
const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

test('a child aborts with the reason of its parent, even of one already aborted, unless it aborted first or was detached', () => {
  const parent = new AbortController();
  const [child, abortedFirst, detached] = [
    createChildController(parent.signal),
    createChildController(parent.signal),
    createChildController(parent.signal),
  ];
  abortedFirst.abort('own');
  detached.detach();
  expect([parent.signal.aborted, child.signal.aborted, listeners(parent)]).toEqual([false, false, 2]);
  parent.abort(REASON);
  const reasons = [child, abortedFirst, createChildController(parent.signal)].map(({ signal }) => signal.reason);
  expect([reasons, detached.signal.aborted]).toEqual([[REASON, 'own', REASON], false]);
});

test('sleep rejects with the abort reason, leaves no listener and accepts a time that is too long for a timer', async () => {
  const parent = new AbortController();
  for (const ms of [0, -5, 1]) await sleep(ms, parent.signal);
  // Node’s timers do not accept this time: setTimeout would warn and wake at once.
  using warned = vi.spyOn(process, 'emitWarning');
  const slept = sleep(2 ** 40, parent.signal);
  parent.abort(REASON);
  await expect(slept).rejects.toBe(REASON);
  expect(warned).not.toHaveBeenCalled();
  expect(listeners(parent)).toBe(0);
  await expect(sleep(0, parent.signal)).rejects.toBe(REASON);
});
