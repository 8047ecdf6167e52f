import { expect, test } from 'vitest';
import { readRange } from '../../src/sandbox/reply.ts';

test.each<[string | undefined, number, readonly [first: number, last: number] | 'unsatisfiable' | 'whole']>([
  [undefined, 10, 'whole'],
  ['bytes=0-9', 10, [0, 9]],
  ['bytes=9-', 10, [9, 9]],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=3-20', 10, [3, 9]],
  ['bytes=-1', 10, [9, 9]],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=-', 10, 'whole'],
  ['bytes=1-2,4-5', 10, 'whole'],
  ['items=1-2', 10, 'whole'],
  [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
  [`bytes=0-${'9'.repeat(400)}`, 10, [0, 9]],
  ['bytes=0-', 0, 'unsatisfiable'],
])('%s of %i bytes', (header, size, verdict) => {
  const range = readRange(header, size) ?? 'whole';
  expect(typeof range === 'string' ? range : [range.first, range.last]).toEqual(verdict);
});
