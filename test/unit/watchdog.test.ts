import { expect, onTestFinished, test } from 'vitest';
import { Watchdog, type Watched } from '../../src/http/watchdog.ts';
import { heldClock } from '../held-clock.ts';

const IDLE_MS = 1000;

/** A number: so many milliseconds pass. */
type Step = number | ((watched: Watched) => unknown);
const end: Step = (watched) => watched.end();
const pause: Step = (watched) => watched.pause();
const restart: Step = (watched) => watched.restart();
const fed =
  (bytes: number): Step =>
  (watched) =>
    watched.fed(bytes);
/** After a stop, timers have their turn before sockets. */
const fedLate: Step = (watched) => setImmediate(() => watched.fed(1000));

const times = (count: number, ...steps: Step[]) => Array.from({ length: count }, () => steps).flat();
const notReading = times(5, 999, pause, fed(1000), ...times(10, 1000), restart);

test.each<[what: string, idle: number, steps: Step[]]>([
  ['a moment less than that time', 0, [999]],
  ['that time, and longer: once', 1, [999, 1, 1000, 1000]],
  ['after its end', 0, [end, 1000]],
  ['1000 bytes in each tenth of the time', 0, times(25, fed(1000), 100)],
  ['99 bytes in each tenth', 1, times(25, fed(99), 100)],
  ['99 bytes in each tenth, after many', 1, [fed(1000), ...times(25, fed(99), 100)]],
  ['while we do not read, whatever was still to come by then', 0, notReading],
  ['after that, a moment less than the time', 0, [...notReading, 999]],
  ['after that, the time', 1, [...notReading, 999, 1]],
  ['what has come by then is read before the verdict', 0, [fedLate, 1000]],
  ['its own lateness is no silence', 0, [3000, 999]],
  ['its own lateness, and the whole time anew', 1, [3000, 999, 1]],
])('silence: %s: idle %i times', async (_, idle, steps) => {
  const { pass, ...clock } = heldClock();
  const watchdog = new Watchdog(IDLE_MS, clock);
  onTestFinished(() => watchdog.close());
  let found = 0;
  const watched = watchdog.watch(() => {
    found += 1;
    watched.end();
  });
  for (const step of steps) await (typeof step === 'number' ? pass(step) : step(watched));
  expect(found).toBe(idle);
});

test('each has its own time', async () => {
  const { pass, ...clock } = heldClock();
  const watchdog = new Watchdog(IDLE_MS, clock);
  onTestFinished(() => watchdog.close());
  const found: string[] = [];
  const watch = (name: string) => {
    const watched = watchdog.watch(() => {
      found.push(name);
      watched.end();
    });
  };
  watch('first');
  await pass(500);
  watch('second');
  await pass(500);
  expect(found).toEqual(['first']);
  await pass(500);
  expect(found).toEqual(['first', 'second']);
});
