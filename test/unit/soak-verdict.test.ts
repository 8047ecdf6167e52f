import { expect, test } from 'vitest';

interface Sample {
  readonly at: number;
  readonly rss: number;
  readonly descriptors: number;
}

const verdict = '../../bench/soak/verdict.js';
const { verdictOf } = (await import(verdict)) as {
  verdictOf(samples: readonly Sample[], run: { files: number; jobs: number }): { isFlat: boolean; why: string[] };
};

const MB = 1e6;
/** A minute of samples, one a second, each 100 MB and 30 descriptors unless changed. */
const minute = (change: (at: number) => Partial<Sample> = () => ({})): readonly Sample[] =>
  Array.from({ length: 60 }, (_, at) => ({ at, rss: 100 * MB, descriptors: 30, ...change(at) }));

test.each<[what: string, samples: readonly Sample[], why: string[]]>([
  ['nothing changes', minute(), []],
  ['the start takes more', minute((at) => ({ rss: at < 5 ? 300 * MB : 100 * MB })), []],
  ['memory rises by 5 MB', minute((at) => ({ rss: 100 * MB + (at * 5 * MB) / 60 })), []],
  ['memory rises by 18 MB', minute((at) => ({ rss: 100 * MB + (at * 18 * MB) / 50 })), ['memory rises by 17.6 MB']],
  ['memory peaks once', minute((at) => ({ rss: at === 35 ? 130 * MB : 100 * MB })), ['memory peaks 30.0 MB higher']],
  ['each job has a descriptor more', minute((at) => ({ descriptors: at === 35 ? 48 : 30 })), []],
  ['descriptors peak', minute((at) => ({ descriptors: at === 35 ? 49 : 30 })), ['descriptors peak at 49']],
  ['descriptors leak', minute((at) => ({ descriptors: 30 + Math.floor(at / 10) })), ['descriptors rise by 4.7']],
  ['there are too few samples', minute().slice(0, 8), ['8 samples are too few']],
])('judges a soak in which %s', (_, samples, why) => {
  expect(verdictOf(samples, { files: 0, jobs: 16 })).toMatchObject({ isFlat: why.length === 0, why });
});

test.each([
  [86, true],
  [90, false],
])('judges a rise of 10 MB and %d bytes for each file name as flat: %s', (bytes, isFlat) => {
  const files = 1_000_000;
  // The samples after the warm-up span 48 of 59 seconds.
  const rising = minute((at) => ({ rss: 100 * MB + (at * (10 * MB + bytes * files)) / 48 }));
  expect(verdictOf(rising, { files, jobs: 16 }).why.some((why) => why.includes('rises'))).toBe(!isFlat);
});
