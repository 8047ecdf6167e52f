import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Watchdog } from '../../src/http/watchdog.ts';

const IDLE_MS = 1000;
/** The faked clock gives a turn of the loop a millisecond; in it what has come meanwhile is read. */
const TURN_MS = 1;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A watchdog, and whether it has fired. */
function watch() {
  let fired = false;
  const watchdog = new Watchdog(IDLE_MS, Date.now, () => {
    fired = true;
  });
  return { watchdog, fired: () => fired };
}

describe('Watchdog', () => {
  it('fires after the idle time, not before', () => {
    const { fired } = watch();
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(fired()).toBe(false);
    vi.advanceTimersByTime(1 + TURN_MS);
    expect(fired()).toBe(true);
  });

  it('does not fire while enough bytes come', () => {
    const { watchdog, fired } = watch();
    for (let n = 0; n < 20; n += 1) {
      vi.advanceTimersByTime(IDLE_MS - 1);
      watchdog.fed(1000);
    }
    expect(fired()).toBe(false);
    vi.advanceTimersByTime(IDLE_MS + TURN_MS);
    expect(fired()).toBe(true);
  });

  it('takes a drip for a stall', () => {
    const { watchdog, fired } = watch();
    for (let n = 0; n < 10; n += 1) {
      watchdog.fed(99);
      vi.advanceTimersByTime(IDLE_MS / 10);
    }
    vi.advanceTimersByTime(TURN_MS);
    expect(fired()).toBe(true);
  });

  it('gives the whole time anew at another sign of life', () => {
    const { watchdog, fired } = watch();
    vi.advanceTimersByTime(IDLE_MS - 1);
    watchdog.restart();
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(fired()).toBe(false);
    vi.advanceTimersByTime(1 + TURN_MS);
    expect(fired()).toBe(true);
  });

  it('does not count the time in which we do not read, however often', () => {
    const { watchdog, fired } = watch();
    for (let n = 0; n < 5; n += 1) {
      vi.advanceTimersByTime(IDLE_MS - 1);
      watchdog.pause();
      vi.advanceTimersByTime(10 * IDLE_MS);
      watchdog.resume();
    }
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(fired()).toBe(false);
    vi.advanceTimersByTime(1 + TURN_MS);
    expect(fired()).toBe(true);
  });

  // After a stop, timers have their turn before sockets: what came meanwhile has not been read yet.
  it('reads what has come before it gives its verdict', () => {
    const { watchdog, fired } = watch();
    // Due at the same time, and behind it.
    setTimeout(() => watchdog.fed(1000), IDLE_MS);
    vi.advanceTimersByTime(IDLE_MS + TURN_MS);
    expect(fired()).toBe(false);
  });

  it('takes its own lateness for no silence: the whole time anew', () => {
    const { fired } = watch();
    vi.setSystemTime(Date.now() + 3 * IDLE_MS);
    vi.advanceTimersByTime(2 * IDLE_MS - 1);
    expect(fired()).toBe(false);
    vi.advanceTimersByTime(1 + TURN_MS);
    expect(fired()).toBe(true);
  });
});
