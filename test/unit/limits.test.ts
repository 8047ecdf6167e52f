import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { Allowance, type Limits } from '../../src/transfer/limits/allowance.ts';
import { lastSuccessIn, metricsText } from '../../src/transfer/limits/metrics.ts';
import { Throttle } from '../../src/transfer/limits/throttle.ts';

let clock = 0;
const allowance = (limits: Limits) => {
  clock = 0;
  return new Allowance(limits, () => clock);
};
const code = (work: () => void) => {
  try {
    work();
    return 'fine';
  } catch (error) {
    return error instanceof FilingsError ? error.code : 'not ours';
  }
};

describe('requests', () => {
  test('the last one goes out, the next is refused, and no file begins', () => {
    const used = allowance({ maxRequests: 2 });
    used.request();
    expect(used.reached()).toBeUndefined();
    used.request();
    expect(used.reached()?.code).toBe('limit');
    expect(code(() => used.request())).toBe('limit');
    expect(used.requests).toBe(2);
  });

  test('without a limit all are counted', () => {
    const used = allowance({});
    for (let n = 0; n < 5; n += 1) used.request();
    expect([used.requests, used.reached()]).toEqual([5, undefined]);
  });
});

describe('bytes', () => {
  test.each<[what: string, before: number, size: number, begins: boolean]>([
    ['exactly the rest', 60, 40, true],
    ['one byte more than the rest', 60, 41, false],
    ['an unknown size, while one byte is left', 99, 0, true],
    ['an unknown size, while none is left', 100, 0, false],
    ['more than the whole limit', 0, 101, false],
  ])('%s: begins or does not', (_what, before, size, begins) => {
    const used = allowance({ maxBytes: 100 });
    used.share().came(before);
    expect(used.reached(size) === undefined).toBe(begins);
  });

  test('a share of one in flight is kept for it', () => {
    const used = allowance({ maxBytes: 100 });
    const first = used.share(70);
    expect(used.reached(31)?.code).toBe('limit');
    expect(used.reached(30)).toBeUndefined();
    first.came(50);
    expect(used.reached(31)?.code).toBe('limit');
    first.release();
    expect(used.reached(50)).toBeUndefined();
    expect(used.bytes).toBe(50);
  });

  test('a size that is learned later, and goes over, is broken off before its first byte', () => {
    const used = allowance({ maxBytes: 100 });
    const share = used.share();
    expect(code(() => share.expect(101))).toBe('limit');
    expect(code(() => share.expect(100))).toBe('fine');
  });

  test('one without a size is broken off when it goes over, others in flight keep theirs', () => {
    const used = allowance({ maxBytes: 100 });
    const known = used.share(60);
    const unknown = used.share();
    expect(code(() => unknown.came(40))).toBe('fine');
    expect(code(() => unknown.came(1))).toBe('limit');
    unknown.release();
    expect(code(() => known.came(59))).toBe('fine');
  });

  test('a file larger than the whole limit says so: every run would end at it', () => {
    expect(allowance({ maxBytes: 100 }).reached(2000)?.message).toContain('one file alone has 2,000 bytes');
  });
});

test('time: nothing begins afterwards', () => {
  const used = allowance({ stopAfterMs: 1000 });
  clock = 999;
  expect(used.reached()).toBeUndefined();
  clock = 1000;
  expect(used.reached()?.code).toBe('limit');
});

test('a limit has exit status 10 and stops the run', () => {
  const error = allowance({ maxRequests: 0 }).reached();
  expect([error?.exitStatus, error?.stopsRun]).toEqual([10, true]);
});

test('bandwidth: each waits until its bytes were due, behind those of others', async () => {
  let now = 0;
  const throttle = new Throttle(1_000_000, () => now);
  const never = new AbortController();
  const first = throttle.moved(250_000, never.signal);
  await first;
  const signal = AbortSignal.abort(new Error('stop'));
  // A quarter of a second's worth went at once; now every byte has to wait.
  await expect(throttle.moved(1_000_000, signal)).rejects.toThrow('stop');
  now = 1000;
  await throttle.moved(0, never.signal);
});

describe('metrics', () => {
  const figures = { files: { downloaded: 3, failed: 0 }, bytes: 120, requests: 4, retries: 1, waitMs: 1500 };

  test('while it runs there is no end in them', () => {
    expect(metricsText(figures)).toBe(
      [
        '# HELP filings_files Files by what became of them.',
        '# TYPE filings_files counter',
        'filings_files{result="downloaded"} 3',
        'filings_files{result="failed"} 0',
        '# HELP filings_bytes Body bytes received.',
        '# TYPE filings_bytes counter',
        'filings_bytes 120',
        '# HELP filings_requests Requests sent.',
        '# TYPE filings_requests counter',
        'filings_requests 4',
        '# HELP filings_retries Tries after the first.',
        '# TYPE filings_retries counter',
        'filings_retries 1',
        '# HELP filings_wait_seconds Time spent waiting before tries.',
        '# TYPE filings_wait_seconds counter',
        'filings_wait_seconds 1.5',
        '',
      ].join('\n'),
    );
  });

  test('the time of the last success survives', () => {
    const text = metricsText({ ...figures, exitCode: 7, lastSuccess: 1_700_000_000_250, retryAt: 1_800_000_000_000 });
    expect(text).toContain('filings_exit_code 7\n');
    expect(text).toContain('filings_retry_at_timestamp_seconds 1800000000\n');
    expect(lastSuccessIn(text)).toBe(1_700_000_000_250);
    expect(lastSuccessIn('filings_last_success_timestamp_seconds soon\n')).toBeUndefined();
  });
});
