import { expect, test } from 'vitest';
import { LoopTime } from '../../src/disk/calls/loop-time.ts';

/** A clock that stands still but for what calls take, in milliseconds; each call is a turn of its own unless told. */
function loop(nextTurn: (run: () => void) => void = (run) => run()) {
  const clock = { now: 1000 };
  const time = new LoopTime(() => clock.now, nextTurn);
  const call = (ms: number) => {
    const take = () => {
      clock.now += ms;
    };
    return time.spend(take) !== undefined;
  };
  return { clock, time, call };
}

test('what a call gives or throws is handed on', () => {
  const { time } = loop();
  expect(time.spend(() => 7)).toEqual({ value: 7 });
  expect(time.spend(() => undefined)).toEqual({ value: undefined });
  expect(() =>
    time.spend(() => {
      throw new Error('no such file');
    }),
  ).toThrow('no such file');
});

test('calls that take no time can always be waited for', () => {
  const { call } = loop();
  const calls = Array.from({ length: 100_000 }, () => call(0));
  expect(calls.every((waited) => waited)).toBe(true);
});

test('of calls that take 5 ms each and follow one another, four fifths of the time go to what is not waited for', () => {
  const { clock, call } = loop();
  const end = clock.now + 100_000;
  let waited = 0;
  while (clock.now < end) {
    if (call(5)) waited += 5;
    else clock.now += 5;
  }
  expect(waited / 100_000).toBeCloseTo(0.2, 2);
});

test('a call that hung for a second is followed by almost four in which none is waited for', () => {
  const { clock, call } = loop();
  expect(call(1000)).toBe(true);
  clock.now += 3740;
  expect(call(1)).toBe(false);
  clock.now += 20;
  expect(call(1)).toBe(true);
});

test('a call that hangs and then throws counts as well', () => {
  const { clock, time, call } = loop();
  const hangs = () => {
    clock.now += 1000;
    throw new Error('EIO');
  };
  expect(() => time.spend(hangs)).toThrow('EIO');
  expect(call(1)).toBe(false);
});

test('an hour without a call is no licence to hang', () => {
  const { clock, call } = loop();
  call(0);
  clock.now += 3_600_000;
  call(100);
  expect(call(0)).toBe(false);
});

test('a turn of the event loop does not go on for ever: behind 10 ms another one has to come', () => {
  const turns: (() => void)[] = [];
  const { clock, call } = loop((run) => turns.push(run));
  expect(call(0)).toBe(true);
  clock.now += 10;
  expect(call(0)).toBe(true);
  clock.now += 1;
  expect(call(0)).toBe(false);
  expect(turns).toHaveLength(1);
  turns[0]?.();
  expect(call(0)).toBe(true);
});
