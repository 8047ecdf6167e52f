import { expect, onTestFinished, test } from 'vitest';
import { type IdleTimer, Watchdog } from '../../src/http/watchdog.ts';
import { heldClock } from '../held-clock.ts';

/** A watchdog with a timeout of 1000 ms, on a clock that `pass` moves. */
function setUp() {
  const { pass, ...clock } = heldClock();
  const watchdog = new Watchdog(1000, clock);
  onTestFinished(() => watchdog.close());
  return { pass, watchdog };
}

/** A number makes that many milliseconds pass. */
type Step = number | ((timer: IdleTimer) => unknown);
const end: Step = (timer) => timer.end();
const pause: Step = (timer) => timer.pause();
const restart: Step = (timer) => timer.restart();
const addBytes =
  (bytes: number): Step =>
  (timer) =>
    timer.addBytes(bytes);
/** Feeds the watchdog late: after a stop of the process, timers run before sockets. */
const addBytesLate: Step = (timer) => setImmediate(() => timer.addBytes(1000));

const times = (count: number, ...steps: Step[]) => Array.from({ length: count }, () => steps).flat();
const notReading = times(5, 999, pause, addBytes(1000), ...times(10, 1000), restart);

test.each`
  after                                                        | idle | steps
  ${'a silence just below the timeout'}                        | ${0} | ${[999]}
  ${'a silence of the timeout and longer'}                     | ${1} | ${[999, 1, 1000, 1000]}
  ${'a silence after the end'}                                 | ${0} | ${[end, 1000]}
  ${'1000 bytes in each tenth of the timeout'}                 | ${0} | ${times(25, addBytes(1000), 100)}
  ${'99 bytes in each tenth of the timeout'}                   | ${1} | ${times(25, addBytes(99), 100)}
  ${'99 bytes in each tenth of the timeout, after 1000 bytes'} | ${1} | ${[addBytes(1000), ...times(25, addBytes(99), 100)]}
  ${'a reader that pauses'}                                    | ${0} | ${notReading}
  ${'a silence just below the timeout after a pause'}          | ${0} | ${[...notReading, 999]}
  ${'a silence of the timeout after a pause'}                  | ${1} | ${[...notReading, 999, 1]}
  ${'bytes that arrived while the process was stopped'}        | ${0} | ${[addBytesLate, 1000]}
  ${'a late timer'}                                            | ${0} | ${[3000, 999]}
  ${'a late timer, then a silence of the timeout'}             | ${1} | ${[3000, 999, 1]}
`('an exchange is idle $idle times after $after', async ({ idle, steps }) => {
  const { pass, watchdog } = setUp();
  let idleCount = 0;
  const timer = watchdog.watch(() => {
    idleCount += 1;
    timer.end();
  });
  for (const step of steps) await (typeof step === 'number' ? pass(step) : step(timer));
  expect(idleCount).toBe(idle);
});

test('each exchange has its own timeout', async () => {
  const { pass, watchdog } = setUp();
  const idleNames: string[] = [];
  const watch = (name: string) => {
    const timer = watchdog.watch(() => {
      idleNames.push(name);
      timer.end();
    });
  };
  watch('first');
  await pass(500);
  watch('second');
  await pass(500);
  expect(idleNames).toEqual(['first']);
  await pass(500);
  expect(idleNames).toEqual(['first', 'second']);
});
