import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { childOf, onAbort, sleep } from '../../src/abort.ts';

const REASON = new Error('the reason');
const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

describe('onAbort', () => {
  test('acts once, with the reason', () => {
    const parent = new AbortController();
    const seen: unknown[] = [];
    onAbort(parent.signal, (reason) => seen.push(reason));
    expect(seen).toEqual([]);
    parent.abort(REASON);
    parent.abort(new Error('another'));
    expect(seen).toEqual([REASON]);
  });

  test('acts at once when it is too late to wait', () => {
    const seen: unknown[] = [];
    onAbort(AbortSignal.abort(REASON), (reason) => seen.push(reason));
    expect(seen).toEqual([REASON]);
  });

  test('called off, it does nothing and holds nothing', () => {
    const parent = new AbortController();
    const seen: unknown[] = [];
    onAbort(parent.signal, (reason) => seen.push(reason))();
    expect(listeners(parent)).toBe(0);
    parent.abort(REASON);
    expect(seen).toEqual([]);
  });
});

describe('childOf', () => {
  test('aborts with its parent, for its reason', () => {
    const parent = new AbortController();
    const { signal } = childOf(parent.signal);
    expect(signal.aborted).toBe(false);
    parent.abort(REASON);
    expect(signal.reason).toBe(REASON);
  });

  test('is born aborted of an aborted one', () => {
    expect(childOf(AbortSignal.abort(REASON)).signal.reason).toBe(REASON);
  });

  test('aborts without its parent', () => {
    const parent = new AbortController();
    const child = childOf(parent.signal);
    child.abort(REASON);
    expect([child.signal.reason, parent.signal.aborted]).toEqual([REASON, false]);
  });

  test('let go, it stays as it is', () => {
    const parent = new AbortController();
    const child = childOf(parent.signal);
    child.letGo();
    expect(listeners(parent)).toBe(0);
    parent.abort(REASON);
    expect(child.signal.aborted).toBe(false);
  });
});

describe('sleep', () => {
  test('ends with the reason, and leaves no listener', async () => {
    const parent = new AbortController();
    const slept = sleep(2 ** 40, parent.signal);
    parent.abort(REASON);
    await expect(slept).rejects.toBe(REASON);
    expect(listeners(parent)).toBe(0);
  });

  test.each([0, -5, 1])('of %i ms is over', async (ms) => {
    const parent = new AbortController();
    await sleep(ms, parent.signal);
    expect(listeners(parent)).toBe(0);
  });

  test('of an aborted one fails, however short', async () => {
    await expect(sleep(0, AbortSignal.abort(REASON))).rejects.toBe(REASON);
  });
});
