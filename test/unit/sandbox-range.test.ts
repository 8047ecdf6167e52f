import { expect, test } from 'vitest';
import { readRange } from '../../src/sandbox/reply.ts';

const HUGE = '9'.repeat(400);
test.each<[result: string, headers: (string | undefined)[], size?: number]>([
  ['whole', [undefined, 'bytes=-', 'bytes=1-2,4-5', 'items=1-2']],
  ['0-9', ['bytes=0-9', `bytes=0-${HUGE}`]],
  ['3-9', ['bytes=3-20']],
  ['9-9', ['bytes=9-', 'bytes=-1']],
  ['unsatisfiable', ['bytes=10-', 'bytes=-0', `bytes=${HUGE}-`]],
  ['unsatisfiable', ['bytes=0-'], 0],
])('gives %s for each of the ranges %j', (result, headers, size = 10) => {
  for (const header of headers) {
    const range = readRange(header, size) ?? 'whole';
    expect(typeof range === 'string' ? range : `${range.first}-${range.last}`, header).toBe(result);
  }
});
