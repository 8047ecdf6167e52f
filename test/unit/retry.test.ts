import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { parseRetryAfter, type RetryWatcher, retry } from '../../src/http/retry.ts';

const busy = (more: object = {}) => new FilingsError('temporary', 'busy', { retryable: true, ...more });
const LONGEST = '1000 2000 4000 8000 16000 32000 60000 60000';
const TOO_LONG = { message: 'busy: the service asks to wait 10 s', stopsRun: true };
const [BUSY, FINAL, UNRESOLVED] = [busy(), busy({ retryable: false }), busy({ subcode: 'unresolved-name' })];
const FOREIGN_TOO_LONG = { message: 'busy: the service asks to wait 10 s', stopsRun: false };
const FINAL_ASKING = busy({ retryable: false, retryAt: 9 });
const asking = (retryAt: number) => busy({ retryAt });
const PLAIN = { message: 'busy' };
const TWO_TRIES = { message: 'busy; 2 tries' };
const THREE_TRIES = { message: 'busy; 3 tries' };
const JITTER = { random: () => 0.999_999 };
const ONCE = { retries: 0 };
const FIVE = { retries: 5 };
// The clock stands at 7 ms.
test.each`
  after                                    | settings                  | waits               | error                    | thrown
  ${'success in the third attempt'}        | ${{}}                     | ${'1000 2000'}      | ${undefined}             | ${[BUSY, BUSY]}
  ${'the largest jitter'}                  | ${JITTER}                 | ${'1500'}           | ${undefined}             | ${[BUSY]}
  ${'the longest back-off'}                | ${{ retries: 8 }}         | ${LONGEST}          | ${undefined}             | ${Array(8).fill(BUSY)}
  ${'an error that is not retryable'}      | ${{}}                     | ${''}               | ${PLAIN}                 | ${[FINAL]}
  ${'one that asks for a wait'}            | ${{}}                     | ${''}               | ${PLAIN}                 | ${[FINAL_ASKING]}
  ${'no success'}                          | ${{}}                     | ${'1000 2000'}      | ${THREE_TRIES}           | ${[BUSY, BUSY, BUSY]}
  ${'no retries'}                          | ${ONCE}                   | ${''}               | ${PLAIN}                 | ${[BUSY]}
  ${'a wait of the maximum'}               | ${{}}                     | ${'9000 asked'}     | ${undefined}             | ${[asking(9007)]}
  ${'a wait of the maximum, no retries'}   | ${ONCE}                   | ${''}               | ${PLAIN}                 | ${[asking(9007)]}
  ${'a wait over the maximum'}             | ${{}}                     | ${''}               | ${TOO_LONG}              | ${[asking(9008)]}
  ${'a wait over the maximum, no retries'} | ${ONCE}                   | ${''}               | ${TOO_LONG}              | ${[asking(9008)]}
  ${'such a wait behind a redirect'}       | ${{}}                     | ${''}               | ${FOREIGN_TOO_LONG}      | ${[busy({ retryAt: 9008, isOtherOrigin: true })]}
  ${'a wait in the past'}                  | ${{}}                     | ${'0 asked'}        | ${undefined}             | ${[asking(3)]}
  ${'a back-off over that maximum'}        | ${{ maxRetryAfter: 500 }} | ${'1000'}           | ${undefined}             | ${[BUSY]}
  ${'1 MiB with each attempt'}             | ${{ brought: 1 << 20 }}   | ${'1000 1000 1000'} | ${undefined}             | ${[BUSY, BUSY, BUSY]}
  ${'less progress'}                       | ${{ brought: 1e6 }}       | ${'1000 2000'}      | ${THREE_TRIES}           | ${[BUSY, BUSY, BUSY]}
  ${'a name that does not resolve'}        | ${FIVE}                   | ${'1000'}           | ${TWO_TRIES}             | ${[UNRESOLVED, UNRESOLVED]}
  ${'a name that resolves at last'}        | ${FIVE}                   | ${'1000 2000 4000'} | ${undefined}             | ${[UNRESOLVED, BUSY, UNRESOLVED]}
  ${'a defect in the second attempt'}      | ${{}}                     | ${'1000'}           | ${{ message: 'x' }}      | ${[BUSY, new TypeError('x')]}
  ${'an abort in the second attempt'}      | ${{ stopAfter: 2 }}       | ${'1000'}           | ${{ message: 'signal' }} | ${[BUSY, BUSY]}
`('a temporary error is retried: $after', async ({ thrown, settings, waits: expected, error }) => {
  const { stopAfter, brought, ...more } = settings;
  const waits: string[] = [];
  const ownWaits: string[] = [];
  const stop = new AbortController();
  const sleep = async (ms: number) => void ownWaits.push(`${ms}`);
  const clock = { now: () => 7, random: () => 0, sleep };
  const failures = [...thrown];
  let tries = 0;
  const attempt = async () => {
    tries += 1;
    if (tries === stopAfter) stop.abort(error);
    if (failures.length > 0) throw failures.shift();
  };
  const onRetry: RetryWatcher['onRetry'] = ({ waitMs, isServiceWait }) =>
    waits.push(`${waitMs}${isServiceWait ? ' asked' : ''}`);
  const policy = { retries: 2, maxRetryAfter: 9000, ...more };
  const watcher = { onRetry, countNewBytes: brought && (() => brought) };
  const ended = await retry(attempt, policy, { ...clock, ...more }, stop.signal, watcher).catch((thrown) => thrown);
  expect([ended, waits.join(' ')]).toEqual([error && expect.objectContaining(error), expected]);
  // The limiter waits if the service asks.
  expect(ownWaits).toEqual(waits.filter((wait) => !wait.endsWith('asked')));
});

describe('Retry-After', () => {
  const NOW = Date.parse('Tue, 01 Apr 2025 10:00:00 GMT');
  test.each`
    form                                       | value                                | wait
    ${'seconds'}                               | ${'30'}                              | ${30_000}
    ${'seconds with blanks'}                   | ${' 30 '}                            | ${30_000}
    ${'zero'}                                  | ${'0'}                               | ${0}
    ${'a year in seconds'}                     | ${'31536000'}                        | ${31_536_000_000}
    ${'a date'}                                | ${'Tue, 01 Apr 2025 10:01:30 GMT'}   | ${90_000}
    ${'a date in the past'}                    | ${'Tue, 01 Apr 2025 09:00:00 GMT'}   | ${0}
    ${'a date of RFC 850'}                     | ${'Tuesday, 01-Apr-25 10:01:30 GMT'} | ${90_000}
    ${'a date of RFC 850 in the last century'} | ${'Tuesday, 06-Nov-77 08:49:37 GMT'} | ${0}
    ${'a date of asctime, which is UTC too'}   | ${'Tue Apr  1 10:01:30 2025'}        | ${90_000}
    ${'a date without a zone'}                 | ${'Tue, 01 Apr 2025 10:01:30'}       | ${90_000}
    ${'a date with another zone'}              | ${'Tue, 01 Apr 2025 12:01:30 +0200'} | ${90_000}
    ${'a date in lower case'}                  | ${'tue, 01 apr 2025 10:01:30 gmt'}   | ${90_000}
    ${'a date after a century'}                | ${'Fri, 01 Apr 2225 10:00:00 GMT'}   | ${3_153_600_000_000}
  `('is read as a wait: $form', ({ value, wait }) => {
    expect(parseRetryAfter({ 'retry-after': value }, NOW)).toBe(wait);
  });

  test('is no wait if it is neither a whole number of seconds nor a date of HTTP', () => {
    const numbers = ['', '-5', '1.5', '+5', '0x10', '5s', 'soon'];
    const dates = ['Tue, 99 Foo 2025 10:01:30 GMT', '2025-04-01T10:01:30Z', '01 Apr 2025 10:01:30 GMT'];
    const others = [undefined, ['1', '2'], '01 Apr 2025 10:01:30 GMT (Tue)'];
    const values = [...numbers, ...dates, ...others];
    expect(values.filter((value) => parseRetryAfter({ 'retry-after': value }, NOW) !== undefined)).toEqual([]);
  });

  test('is a date on the clock of the service, not on that of this machine', () => {
    const date = 'Tue, 01 Apr 2025 09:00:00 GMT';
    expect(parseRetryAfter({ 'retry-after': 'Tue, 01 Apr 2025 09:00:30 GMT', date }, NOW)).toBe(30_000);
    expect(parseRetryAfter({ 'retry-after': '30', date }, NOW)).toBe(30_000);
  });

  test('is longer than any maximum if no number can hold it', () => {
    expect(parseRetryAfter({ 'retry-after': '9'.repeat(400) }, NOW)).toBeGreaterThan(300_000);
  });
});
