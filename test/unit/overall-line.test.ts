import { describe, expect, test } from 'vitest';
import { type Moved, overallLine, type Reach } from '../../src/terminal/progress/overall-line.ts';

const reach: Reach = { files: 3, of: 11, failed: 0, waiting: 20e6, share: undefined };
const moved: Moved = { bytes: 12e6, missing: 8e6, rate: 5e6, ms: 6000 };

describe('the line above the running files', () => {
  test.each<[what: string, reach: Partial<Reach>, moved: Partial<Moved>, shown: string]>([
    ['all is known', {}, {}, '3 of 11 files    12 MB of 40 MB  5.0 MB/s  6 s left'],
    ['some failed', { failed: 2 }, {}, '3 of 11 files, 2 failed    12 MB of 40 MB  5.0 MB/s  6 s left'],
    ['no sizes', { waiting: undefined }, {}, '3 of 11 files             12 MB  5.0 MB/s  about 16 s left'],
    [
      'no size of a running file',
      {},
      { missing: undefined },
      '3 of 11 files             12 MB  5.0 MB/s  about 16 s left',
    ],
    ['nothing done', { files: 0, waiting: undefined }, {}, '0 of 11 files             12 MB  5.0 MB/s'],
    ['no speed', {}, { rate: undefined }, '3 of 11 files    12 MB of 40 MB'],
    ['a stream', { of: undefined, waiting: undefined }, {}, '3 files so far             12 MB  5.0 MB/s'],
    [
      'an input with a size',
      { files: 12_000, of: undefined, waiting: undefined, share: 0.25 },
      {},
      '12,000 files so far             12 MB  5.0 MB/s  25 % of the input read, about 18 s left',
    ],
    [
      'one of a stream',
      { files: 1, of: undefined, waiting: undefined },
      {},
      '1 file so far             12 MB  5.0 MB/s',
    ],
  ])('%s', (_what, more, also, shown) => {
    expect(overallLine({ ...reach, ...more }, { ...moved, ...also }, 120)).toBe(shown);
  });

  test.each([
    [60, '3 of 11 files    12 MB of 40 MB  5.0 MB/s  6 s left'],
    [50, '3 of 11 files    12 MB of 40 MB  5.0 MB/s'],
    [40, '3 of 11 files    12 MB of 40 MB'],
    [20, '3 of 11 files'],
    [10, '3 of 11…'],
  ])('at %d columns no field is cut', (width, shown) => {
    expect(overallLine(reach, moved, width)).toBe(shown);
  });
});
