import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/http/rate-limiter.ts';
import { isRetriedStatus, type RetryWatcher, retry, retryAfterMs } from '../../src/http/retry.ts';

test('only 408, 425, 429, 500, 502, 503 and 504 are retried', () => {
  const statuses = Array.from({ length: 600 }, (_, status) => status);
  expect(statuses.filter(isRetriedStatus)).toEqual([408, 425, 429, 500, 502, 503, 504]);
});

const busy = (more: object = {}) => new FilingsError('temporary', 'busy', { retryable: true, ...more });
const LONGEST = ['1000', '2000', '4000', '8000', '16000', '32000', '60000', '60000'];
const TOO_LONG = { message: 'busy: the service asks to wait 10 s', stopsRun: true };
const unresolved = busy({ fault: 'unresolved-name' });
test.each<
  [what: string, thrown: Error[], waits: string[], error?: object | undefined, settings?: Record<string, number>]
>([
  ['success in the third attempt', [busy(), busy()], ['1000', '2000']],
  ['the largest jitter', [busy()], ['1500'], undefined, { jitter: 0.999_999 }],
  ['the longest back-off', Array(8).fill(busy()), LONGEST, undefined, { retries: 8 }],
  ['an error that is not retryable', [busy({ retryable: false })], [], { message: 'busy' }],
  ['one that asks for a wait', [busy({ retryable: false, retryDue: 9 })], [], { message: 'busy' }],
  ['no success', [busy(), busy(), busy()], ['1000', '2000'], { message: 'busy; 3 tries' }],
  ['no retries', [busy()], [], { message: 'busy' }, { retries: 0 }],
  ['Retry-After of the maximum', [busy({ retryDue: 9007 })], ['9000 asked']],
  ['Retry-After of the maximum without retries', [busy({ retryDue: 9007 })], [], { message: 'busy' }, { retries: 0 }],
  ['Retry-After over the maximum without retries', [busy({ retryDue: 9008 })], [], TOO_LONG, { retries: 0 }],
  ['Retry-After over the maximum', [busy({ retryDue: 9008 })], [], TOO_LONG],
  ['Retry-After in the past', [busy({ retryDue: 3 })], ['0 asked']],
  ['a back-off over the maximum of Retry-After', [busy()], ['1000'], undefined, { maxRetryAfterMs: 500 }],
  ['1 MiB with each attempt', [busy(), busy(), busy()], ['1000', '1000', '1000'], undefined, { brought: 1 << 20 }],
  ['less progress', [busy(), busy(), busy()], ['1000', '2000'], { message: 'busy; 3 tries' }, { brought: 1e6 }],
  ['a name that does not resolve', [unresolved, unresolved], ['1000'], { message: 'busy; 2 tries' }, { retries: 5 }],
  [
    'a name that resolves in the second attempt',
    [unresolved, busy(), unresolved],
    ['1000', '2000', '4000'],
    undefined,
    { retries: 5 },
  ],
  ['a defect in the second attempt', [busy(), new TypeError('x')], ['1000'], { message: 'x' }],
  ['an abort in the second attempt', [busy(), busy()], ['1000'], { message: 'signal' }, { stopAfter: 2 }],
])(
  'retries a temporary error: %s',
  async (_, thrown, expected, error, { stopAfter, brought, jitter = 0, ...settings } = {}) => {
    const waits: string[] = [];
    const ownWaits: string[] = [];
    const stop = new AbortController();
    const sleep = async (ms: number) => void ownWaits.push(`${ms}`);
    const clock = { monotonic: () => 7, now: () => 0, random: () => jitter, sleep };
    const policy = {
      retries: 2,
      maxRetryAfterMs: 9000,
      limiter: new RateLimiter(undefined, clock),
      ...clock,
      ...settings,
    };
    let tries = 0;
    const attempt = async () => {
      tries += 1;
      if (tries === stopAfter) stop.abort(error);
      for (const failure of thrown.splice(0, 1)) throw failure;
    };
    const onRetry: RetryWatcher['onRetry'] = ({ waitMs, isServiceWait }) =>
      waits.push(`${waitMs}${isServiceWait ? ' asked' : ''}`);
    const ended = await retry(attempt, policy, stop.signal, {
      onRetry,
      progress: brought ? () => brought : undefined,
    }).catch((thrown) => thrown);
    const expectedOwnWaits = expected.filter((wait) => !wait.endsWith('asked'));
    expect([ended, waits, ownWaits]).toEqual([error && expect.objectContaining(error), expected, expectedOwnWaits]);
  },
);

describe('Retry-After', () => {
  const NOW = Date.parse('Tue, 01 Apr 2025 10:00:00 GMT');
  test.each<[string, string | string[] | undefined, number | undefined]>([
    ['absent', undefined, undefined],
    ['empty', '', undefined],
    ['seconds', '30', 30_000],
    ['seconds with blanks', ' 30 ', 30_000],
    ['zero', '0', 0],
    ['negative', '-5', undefined],
    ['a fraction', '1.5', undefined],
    ['a plus sign', '+5', undefined],
    ['hexadecimal', '0x10', undefined],
    ['nonsense', 'soon', undefined],
    ['a number with a unit', '5s', undefined],
    ['two fields', ['1', '2'], undefined],
    ['a year in seconds', '31536000', 31_536_000_000],
    ['a date', 'Tue, 01 Apr 2025 10:01:30 GMT', 90_000],
    ['a date in the past', 'Tue, 01 Apr 2025 09:00:00 GMT', 0],
    ['a date of RFC 850', 'Tuesday, 01-Apr-25 10:01:30 GMT', 90_000],
    ['a date of RFC 850 in the last century', 'Tuesday, 06-Nov-77 08:49:37 GMT', 0],
    ['a date of asctime, which is UTC too', 'Tue Apr  1 10:01:30 2025', 90_000],
    ['a date without a zone', 'Tue, 01 Apr 2025 10:01:30', 90_000],
    ['a date with another zone', 'Tue, 01 Apr 2025 12:01:30 +0200', 90_000],
    ['an invalid date', 'Tue, 99 Foo 2025 10:01:30 GMT', undefined],
    ['an ISO date', '2025-04-01T10:01:30Z', undefined],
    ['a date without a weekday', '01 Apr 2025 10:01:30 GMT', undefined],
    ['a weekday in parentheses', '01 Apr 2025 10:01:30 GMT (Tue)', undefined],
    ['a date in lower case', 'tue, 01 apr 2025 10:01:30 gmt', 90_000],
    ['a date after a century', 'Fri, 01 Apr 2225 10:00:00 GMT', 3_153_600_000_000],
  ])('is read as a wait: %s', (_, value, expected) => {
    expect(retryAfterMs(value, NOW)).toBe(expected);
  });

  test('is longer than any maximum if no number can hold it', () => {
    expect(retryAfterMs('9'.repeat(400), NOW)).toBeGreaterThan(300_000);
  });
});
