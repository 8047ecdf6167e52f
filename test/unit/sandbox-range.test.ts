import { describe, expect, it } from 'vitest';
import { allowsRange, type RangeVerdict, readRange } from '../../src/sandbox/file-reply.ts';

const part = (first: number, last: number): RangeVerdict => ({ kind: 'part', first, last });
const whole: RangeVerdict = { kind: 'whole' };
const unsatisfiable: RangeVerdict = { kind: 'unsatisfiable' };

describe('readRange', () => {
  it.each<[string | undefined, number, RangeVerdict]>([
    [undefined, 10, whole],
    ['bytes=0-9', 10, part(0, 9)],
    ['bytes=9-', 10, part(9, 9)],
    ['bytes=10-', 10, unsatisfiable],
    ['bytes=3-20', 10, part(3, 9)],
    ['bytes=3-2', 10, whole],
    ['bytes=-1', 10, part(9, 9)],
    ['bytes=-11', 10, part(0, 9)],
    ['bytes=-0', 10, unsatisfiable],
    ['bytes=-', 10, whole],
    ['bytes= 1-2 ', 10, part(1, 2)],
    ['BYTES=1-2', 10, part(1, 2)],
    ['bytes=1-2,4-5', 10, whole],
    ['bytes=+1-2', 10, whole],
    ['items=1-2', 10, whole],
    [`bytes=${'9'.repeat(400)}-`, 10, unsatisfiable],
    [`bytes=0-${'9'.repeat(400)}`, 10, part(0, 9)],
    ['bytes=0-', 0, unsatisfiable],
    ['bytes=-1', 0, whole],
  ])('%s of %i bytes', (header, size, verdict) => {
    expect(readRange(header, size)).toEqual(verdict);
  });
});

describe('preconditions', () => {
  const date = 'Fri, 01 Mar 2024 12:00:00 GMT';
  const validators = { etag: '"a"', lastModified: date };
  const changedAt = Date.parse(date);

  it.each<[string | undefined, number, boolean]>([
    [undefined, 0, true],
    ['"a"', 0, true],
    ['W/"a"', 0, false],
    ['"b"', 0, false],
    ['a', 0, false],
    ['"a", "b"', 0, false],
    [date, 1000, true],
    [date, 999, false],
    ['Fri, 01 Mar 2024 12:00:01 GMT', 5000, false],
    ['2024-03-01T12:00:00Z', 5000, false],
  ])('If-Range: %s, %i ms after the change', (condition, age, allowed) => {
    expect(allowsRange(condition, validators, changedAt + age)).toBe(allowed);
  });

  it('without a Last-Modified no date allows a range', () => {
    expect(allowsRange(date, { etag: '"a"', lastModified: undefined }, changedAt + 5000)).toBe(false);
  });
});
