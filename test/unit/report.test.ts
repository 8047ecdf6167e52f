import { describe, expect, test } from 'vitest';
import { Counts } from '../../src/batch/counts.ts';
import { reportLine } from '../../src/batch/report-line.ts';
import { batchSummary } from '../../src/batch/summary.ts';
import { errorAbout, FilingsError } from '../../src/errors.ts';
import type { RetryEvent } from '../../src/http/retry.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { type Outcome, outcomeLine, retryWait } from '../../src/transfer/outcome.ts';

const TIME = '2026-04-01T10:00:00.000Z';
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  wanted: { accession: parseAccession('0001234567-24-000001'), fileName: 'primary.htm' },
  result: 'downloaded',
  path: 'out/primary.htm',
  bytes: 100,
  resumedBytes: 0,
  verifiedLength: true,
  attempts: 1,
  ms: 12.7,
  ...more,
});

describe('a report line', () => {
  const read = (more: Partial<Outcome>) =>
    JSON.parse(
      reportLine(outcome(more), TIME, ({ code, exitStatus, message }) => ({ code, exit_code: exitStatus, message })),
    );

  test('of a downloaded file', () => {
    expect(read({ etag: '"v1"', sha256: 'ab' })).toEqual({
      v: 1,
      time: TIME,
      accession_no: '0001234567-24-000001',
      file_name: 'primary.htm',
      path: 'out/primary.htm',
      result: 'downloaded',
      bytes: 100,
      sha256: 'ab',
      etag: '"v1"',
      verified_length: true,
      attempts: 1,
      ms: 13,
    });
  });

  test('of a failed file', () => {
    const error = new FilingsError('temporary', 'x: 429', { retryAt: Date.parse('2025-04-01T10:00:00Z') });
    expect(read({ result: 'failed', error, path: null })).toMatchObject({
      path: null,
      retry_at: '2025-04-01T10:00:00.000Z',
      error: { code: 'temporary', exit_code: 7, message: 'x: 429' },
    });
  });

  test('is one line, whatever the names', () => {
    const line = reportLine(outcome({ path: 'a\n"b\u2028c' }), TIME, () => ({}));
    expect(line.split(/[\n\u2028]/)).toHaveLength(1);
    expect(JSON.parse(line).path).toBe('a\n"b\u2028c');
  });
});

test.each<[Partial<Outcome>, string]>([
  [{}, 'out/primary.htm: 100 B'],
  [{ path: null }, 'primary.htm: 100 B'],
  [{ result: 'skipped' }, 'out/primary.htm: already exists, not downloaded (use --if-exists overwrite to replace it)'],
  [{ result: 'resumed', resumedBytes: 60 }, 'out/primary.htm: 100 B, resumed at 60 B'],
  [{ verifiedLength: false }, 'out/primary.htm: 100 B (the service gave no length to check)'],
])('what a person reads of %j', (more, line) => {
  expect(outcomeLine(outcome(more))).toBe(line);
});

test('a wait has the reason without what was asked for, whose wish it is, and how many more there may be', () => {
  const subject = { accession: '0001234567-24-000001', fileName: 'a.htm' };
  const error = errorAbout(subject, 'temporary', '429 Too Many Requests', { problem: { status: 429 } });
  const waitOf = (event: RetryEvent) => {
    const { reason, ms, next } = retryWait(event);
    return [reason, next(ms), next(0)];
  };
  expect(waitOf({ error, waitMs: 30_000, asked: true, retry: 2, retries: 5 })).toEqual([
    '429 Too Many Requests',
    'retry 2 of 5 in 30 s, as the service asks',
    'retry 2 of 5 in 1 s, as the service asks',
  ]);
  const reset = new FilingsError('temporary', 'h: the connection was reset');
  expect(waitOf({ error: reset, waitMs: 1400, asked: false, retry: 1, retries: 5 })).toEqual([
    'h: the connection was reset',
    'retry 1 of 5 in 2 s',
    'retry 1 of 5 in 1 s',
  ]);
});

test('counts: each file once, and the bytes of those that came', () => {
  const counts = new Counts();
  counts.add(outcome());
  counts.add(outcome({ result: 'resumed', resumedBytes: 60 }));
  counts.add(outcome({ result: 'skipped', bytes: 500 }));
  counts.add(outcome({ result: 'failed', bytes: 0, error: new FilingsError('temporary', 'x') }));
  expect([counts.files.failed, counts.total, counts.onlyTemporary]).toEqual([1, 4, true]);
  const end = { notStarted: 2, stoppedBy: undefined, exitCode: 7, ms: 3200, bytes: 200, requests: 4 };
  expect(batchSummary(counts, end)).toBe(
    '2 downloaded (200 B), 1 of them resumed, 1 skipped, 1 failed (1 worth a retry), 2 not started; 4 requests, 3.2 s',
  );
  counts.resumableBytes = 10_000_000;
  expect(batchSummary(counts, end)).toContain(
    '2 not started, stopped at 10 MB; run the same command to resume; 4 requests',
  );
  counts.add(outcome({ result: 'failed', bytes: 0, error: new FilingsError('not_found', 'x') }));
  expect(counts.onlyTemporary).toBe(false);
});
