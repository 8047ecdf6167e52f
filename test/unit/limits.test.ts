import { expect, test } from 'vitest';
import { decideStart, Limits, type Start, type Usage } from '../../src/batch/limits.ts';

const NONE: Usage = { bytes: 0, requests: 0, ms: 0, inProgress: 0, complete: 0 };
const BYTES = { maxBytes: 100 };
const REQUESTS = { maxRequests: 5 };
const TIME = { stopAfter: 1000 };

test.each<[name: string, Partial<Usage>, limits: Parameters<typeof decideStart>[1], Start]>([
  ['nothing is limited', { bytes: 1e12, requests: 1e9, ms: 1e9, inProgress: 9, complete: 9 }, {}, 'start'],
  ['nothing is used', {}, { ...BYTES, ...REQUESTS, ...TIME }, 'start'],
  ['bytes below the limit, many in progress', { bytes: 99, inProgress: 16 }, BYTES, 'start'],
  ['bytes reached, none complete', { bytes: 100 }, BYTES, 'alone'],
  ['bytes reached, none complete, one in progress', { bytes: 100, inProgress: 1 }, BYTES, 'wait'],
  ['bytes reached, one complete', { bytes: 100, complete: 1 }, BYTES, 'end'],
  ['bytes reached, one complete, others in progress', { bytes: 100, inProgress: 3, complete: 1 }, BYTES, 'end'],
  ['bytes below twice the limit, none complete', { bytes: 199 }, BYTES, 'alone'],
  ['bytes reached twice, none complete', { bytes: 200 }, BYTES, 'end'],
  ['bytes reached twice, none complete, one in progress', { bytes: 200, inProgress: 1 }, BYTES, 'end'],
  ['one request left', { requests: 4 }, REQUESTS, 'start'],
  ['one request left, one in progress', { requests: 4, inProgress: 1 }, REQUESTS, 'wait'],
  ['as many in progress as requests are allowed', { inProgress: 5 }, REQUESTS, 'wait'],
  ['one fewer in progress than requests are allowed', { inProgress: 4 }, REQUESTS, 'start'],
  ['requests reached', { requests: 5 }, REQUESTS, 'alone'],
  ['requests reached, one complete', { requests: 5, complete: 1 }, REQUESTS, 'end'],
  ['requests reached twice', { requests: 10 }, REQUESTS, 'end'],
  ['a limit of one request', { requests: 1 }, { maxRequests: 1 }, 'alone'],
  ['time reached', { ms: 1000 }, TIME, 'alone'],
  ['time reached, one complete', { ms: 1000, complete: 1 }, TIME, 'end'],
  ['time reached twice', { ms: 2000 }, TIME, 'end'],
  ['one of two limits reached', { bytes: 5, requests: 5 }, { ...BYTES, ...REQUESTS }, 'alone'],
  ['one of two limits reached twice', { bytes: 5, requests: 10 }, { ...BYTES, ...REQUESTS }, 'end'],
])('a download may start only as the limits allow: %s', (_, used, limits, expected) => {
  expect(decideStart({ ...NONE, ...used }, limits)).toBe(expected);
});

test('counts what starts, ends and is planned, and names the limit that is reached', () => {
  let now = 500;
  const limits = new Limits({ maxRequests: 2, stopAfter: 1000 }, () => now);
  const ends = [limits.start(), limits.start()];
  expect(limits.decideStart()).toBe('wait');
  for (const end of ends) end(false);
  expect(limits.decideStart()).toBe('start');
  limits.requests = 2;
  expect(limits.decideStart()).toBe('alone');
  expect(limits.error).toMatchObject({
    code: 'limit',
    message: 'request limit (2) reached',
    hint: expect.stringMatching(/raise the limit/),
  });
  limits.start()(true);
  expect([limits.decideStart(), limits.error.hint]).toEqual(['end', 'run again to continue']);
  limits.isRepeated = true;
  expect(limits.error.hint).toMatch(/raise the limit/);
  now = 1500;
  expect(limits.error.message).toBe('time limit (1 s) reached');
  const planning = new Limits({ maxBytes: 100 }, () => 0);
  planning.countPlanned(60);
  expect(planning.decideStart()).toBe('start');
  planning.countPlanned(40);
  expect([planning.decideStart(), planning.bytes, planning.requests]).toEqual(['end', 0, 0]);
});
