import { expect, test } from 'vitest';
import { Counts } from '../../src/batch/counts.ts';
import { createThrottle } from '../../src/transfer/throttle.ts';
import { heldClock } from '../held-clock.ts';

test.each`
  options                                          | requests | bytes   | ms        | reached
  ${{}}                                            | ${1e6}   | ${1e12} | ${1e12}   | ${undefined}
  ${{ maxRequests: 5 }}                            | ${4}     | ${1e12} | ${1e12}   | ${undefined}
  ${{ maxRequests: 5000 }}                         | ${5000}  | ${0}    | ${0}      | ${'request limit (5,000) reached'}
  ${{ maxBytes: 9000 }}                            | ${1e6}   | ${8999} | ${1e12}   | ${undefined}
  ${{ maxBytes: 9000 }}                            | ${0}     | ${9000} | ${0}      | ${'download limit (9.0 kB) reached'}
  ${{ stopAfter: 60_000 }}                         | ${1e6}   | ${1e12} | ${59_999} | ${undefined}
  ${{ stopAfter: 60_000 }}                         | ${0}     | ${0}    | ${60_000} | ${'time limit (60 s) reached'}
  ${{ maxRequests: 1, maxBytes: 1, stopAfter: 1 }} | ${1}     | ${1}    | ${1}      | ${'request limit (1) reached'}
`('after $requests requests, $bytes bytes, $ms ms, $options: $reached', ({ options, requests, bytes, ms, reached }) => {
  let now = 1000;
  const counts = new Counts(options, () => now);
  Object.assign(counts, { requests, receivedBytes: bytes });
  now += ms;
  expect(counts.limitError?.message).toBe(reached);
  if (reached) expect(counts.limitError).toMatchObject({ code: 'limit', exitStatus: 10, stopsRun: true });
});

test('the bandwidth is shared by all jobs, and after a pause it allows a burst of a quarter of a second', async () => {
  const { pass, ...clock } = heldClock();
  const throttle = createThrottle(1000, clock);
  const { signal } = new AbortController();
  const ends: string[] = [];
  const receive = (job: string, bytes: number) =>
    throttle(bytes, signal).then(() => ends.push(`${job} ${clock.monotonic()}`));
  await pass(5000);
  const all = [receive('a', 500), receive('b', 100)];
  for (let step = 0; step < 8; step += 1) await pass(50);
  await Promise.all(all);
  expect(ends).toEqual(['a 5250', 'b 5350']);
});
