import { expect, onTestFinished, test } from 'vitest';
import { Watchdog } from '../../src/http/watchdog.ts';
import { heldClock } from '../held-clock.ts';

const IDLE_MS = 1000;

/** A watchdog over one that is watched, and how often that was found idle. */
function watching() {
  const { pass, ...clock } = heldClock();
  const watchdog = new Watchdog(IDLE_MS, clock);
  onTestFinished(() => watchdog.close());
  const found = { idle: 0 };
  const watched = watchdog.watch(() => {
    found.idle += 1;
    watched.end();
  });
  return { pass, watched, found, watchdog };
}

test('tells who is idle after that time, not before, and once', async () => {
  const { pass, found } = watching();
  await pass(IDLE_MS - 1);
  expect(found.idle).toBe(0);
  for (const ms of [1, IDLE_MS, IDLE_MS]) await pass(ms);
  expect(found.idle).toBe(1);
});

test('each has its own time', async () => {
  const { pass, found, watchdog } = watching();
  await pass(IDLE_MS / 2);
  let later = 0;
  const second = watchdog.watch(() => {
    later += 1;
    second.end();
  });
  await pass(IDLE_MS / 2);
  expect([found.idle, later]).toEqual([1, 0]);
  await pass(IDLE_MS / 2);
  expect(later).toBe(1);
});

test('who has ended is not idle', async () => {
  const { pass, watched, found } = watching();
  watched.end();
  await pass(IDLE_MS);
  expect(found.idle).toBe(0);
});

test.each([
  [1000, 0],
  [99, 1],
])('%i bytes in each tenth of the time: idle %i times', async (bytes, times) => {
  const { pass, watched, found } = watching();
  for (let n = 0; n < 25; n += 1) {
    watched.fed(bytes);
    await pass(IDLE_MS / 10);
  }
  expect(found.idle).toBe(times);
});

test('the time in which we do not read does not count, whatever was still to come by then', async () => {
  const { pass, watched, found } = watching();
  for (let n = 0; n < 5; n += 1) {
    await pass(IDLE_MS - 1);
    watched.pause();
    watched.fed(1000);
    for (let m = 0; m < 10; m += 1) await pass(IDLE_MS);
    watched.restart();
  }
  expect(found.idle).toBe(0);
  await pass(IDLE_MS - 1);
  await pass(1);
  expect(found.idle).toBe(1);
});

test('what has come by then is read before the verdict', async () => {
  const { pass, watched, found } = watching();
  // After a stop, timers have their turn before sockets.
  setImmediate(() => watched.fed(1000));
  await pass(IDLE_MS);
  expect(found.idle).toBe(0);
});

test('its own lateness is no silence: the whole time anew', async () => {
  const { pass, found } = watching();
  await pass(3 * IDLE_MS);
  await pass(IDLE_MS - 1);
  expect(found.idle).toBe(0);
  await pass(1);
  expect(found.idle).toBe(1);
});
