import { expect, test } from 'vitest';
import { readRange } from '../../src/sandbox/range.ts';

test.each`
  header             | range
  ${'bytes=0-3'}     | ${{ first: 0, last: 3 }}
  ${'bytes=4-'}      | ${{ first: 4, last: 9 }}
  ${'Bytes= 4-99 '}  | ${{ first: 4, last: 9 }}
  ${'bytes=-3'}      | ${{ first: 7, last: 9 }}
  ${'bytes=-99'}     | ${{ first: 0, last: 9 }}
  ${'bytes=10-'}     | ${'unsatisfiable'}
  ${'bytes=-0'}      | ${'unsatisfiable'}
  ${'bytes=3-2'}     | ${undefined}
  ${'bytes=-'}       | ${undefined}
  ${'bytes=0-1,3-4'} | ${undefined}
  ${'lines=0-3'}     | ${undefined}
  ${undefined}       | ${undefined}
`('of ten bytes, the sandbox sends for the Range $header: $range', ({ header, range }) => {
  expect(readRange(header, 10)).toEqual(range);
});
