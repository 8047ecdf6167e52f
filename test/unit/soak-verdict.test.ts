import { join } from 'node:path';
import { expect, test } from 'vitest';

const { verdictOf } = await import(join(import.meta.dirname, '../../bench/soak/verdict.js'));
const MB = 1e6;

/** Samples of an hour, each minute: 60 MB and 40 descriptors in the first ten, what is given behind them. */
const hour = (memory: (minute: number) => number, descriptors: (minute: number) => number) =>
  Array.from({ length: 61 }, (_, minute) => ({
    at: minute * 60,
    rss: (minute <= 10 ? 60 : memory(minute)) * MB,
    descriptors: minute <= 10 ? 40 : descriptors(minute),
  }));

test.each<[what: string, memory: (minute: number) => number, descriptors: (minute: number) => number, why: string[]]>([
  ['level', () => 60, () => 40, []],
  ['a little rise, as of names that are remembered', (minute) => 60 + minute / 10, () => 40, []],
  ['garbage that comes and goes', (minute) => 60 + (minute % 7) * 2, (minute) => 40 + (minute % 3), []],
  ['a leak', (minute) => 56 + minute / 3, () => 40, ['memory rises by 16.3 MB']],
  ['a peak in the middle', (minute) => (minute === 35 ? 99 : 60), () => 40, ['memory peaks 39.0 MB higher']],
  ['a leak of descriptors', () => 60, (minute) => 38 + minute / 5, ['descriptors rise by 9.8']],
  ['descriptors at once', () => 60, (minute) => (minute === 35 ? 90 : 40), ['descriptors peak at 90']],
])('%s', (_what, memory, descriptors, why) => {
  const verdict = verdictOf(hour(memory, descriptors), { files: 1000, jobs: 16 });
  expect(verdict).toMatchObject({ isFlat: why.length === 0, why });
});

test('a name costs 42 bytes, which is no leak', () => {
  const rising = hour(
    (minute) => 60 + minute / 4,
    () => 40,
  );
  expect(verdictOf(rising, { files: 1000, jobs: 16 }).isFlat).toBe(false);
  expect(verdictOf(rising, { files: 200_000, jobs: 16 }).isFlat).toBe(true);
});

test('a run of a moment proves nothing', () => {
  expect(
    verdictOf(
      hour(
        () => 60,
        () => 40,
      ).slice(0, 5),
      { files: 1, jobs: 1 },
    ).isFlat,
  ).toBe(false);
  expect(verdictOf([], { files: 1, jobs: 1 }).isFlat).toBe(false);
});
