import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { childOf, sleep } from '../../src/abort.ts';

const REASON = new Error('the reason');
const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

describe('childOf', () => {
  test('aborts with its parent, for its reason, also when that is over', () => {
    const parent = new AbortController();
    const { signal } = childOf(parent.signal);
    expect(signal.aborted).toBe(false);
    parent.abort(REASON);
    expect([signal.reason, childOf(parent.signal).signal.reason]).toEqual([REASON, REASON]);
  });

  test('aborts without its parent; let go, it stays as it is', () => {
    const parent = new AbortController();
    const [child, free] = [childOf(parent.signal), childOf(parent.signal)];
    child.abort(REASON);
    expect([child.signal.reason, parent.signal.aborted]).toEqual([REASON, false]);
    child.letGo();
    free.letGo();
    expect(listeners(parent)).toBe(0);
    parent.abort(REASON);
    expect(free.signal.aborted).toBe(false);
  });
});

test('sleep ends with the reason, and leaves no listener', async () => {
  const parent = new AbortController();
  for (const ms of [0, -5, 1]) await sleep(ms, parent.signal);
  const slept = sleep(2 ** 40, parent.signal);
  parent.abort(REASON);
  await expect(slept).rejects.toBe(REASON);
  expect(listeners(parent)).toBe(0);
  await expect(sleep(0, parent.signal)).rejects.toBe(REASON);
});
