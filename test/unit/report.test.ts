import { describe, expect, test } from 'vitest';
import { errorAbout, FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { summaryText } from '../../src/transfer/mirror/summary.ts';
import { Tally } from '../../src/transfer/mirror/tally.ts';
import type { Outcome } from '../../src/transfer/outcome.ts';
import { outcomeLine, reportLine, retryWait } from '../../src/transfer/report.ts';

const bytes = (count: number) => `${count} B`;
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  wanted: { accession: parseAccession('0001234567-24-000001'), fileName: 'primary.htm' },
  result: 'downloaded',
  path: 'out/primary.htm',
  bytes: 100,
  saved: 0,
  moved: 100,
  verifiedLength: true,
  attempts: 1,
  ms: 12.7,
  ...more,
});

describe('a report line', () => {
  const read = (more: Partial<Outcome>) =>
    JSON.parse(
      reportLine(outcome(more), ({ code, exitStatus, message }) => ({ code, exit_code: exitStatus, message })),
    );

  test('of a downloaded file', () => {
    expect(read({ etag: '"v1"', sha256: 'ab' })).toEqual({
      v: 1,
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

  test('of a resumed file tells what was saved', () => {
    expect(read({ result: 'resumed', saved: 60 })).toMatchObject({ result: 'resumed', bytes: 100, saved_bytes: 60 });
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
    const line = reportLine(outcome({ path: 'a\nb\u2028c' }), () => ({}));
    expect(line.split(/\r?\n/)).toHaveLength(1);
  });
});

test.each<[Partial<Outcome>, string]>([
  [{}, 'out/primary.htm: 100 B'],
  [{ path: null }, 'primary.htm: 100 B'],
  [{ result: 'skipped' }, 'out/primary.htm: skipped: it is there already'],
  [{ result: 'resumed', saved: 60 }, 'out/primary.htm: 100 B, resumed: 60 B were there'],
  [{ verifiedLength: false }, 'out/primary.htm: 100 B (the service told no length to check)'],
])('what a person reads of %j', (more, line) => {
  expect(outcomeLine(outcome(more), bytes)).toBe(line);
});

test('a wait has the reason without what was asked for, whose wish it is, and how many more there may be', () => {
  const subject = { accession: '0001234567-24-000001', fileName: 'a.htm' };
  const error = errorAbout(subject, 'temporary', '429 Too Many Requests', { problem: { status: 429 } });
  expect(retryWait({ error, waitMs: 30_000, asked: true, retry: 2, retries: 5 })).toEqual({
    reason: '429 Too Many Requests',
    next: 'the service asks to wait 30 s, 2 of 5',
  });
  const reset = new FilingsError('temporary', 'h: the connection was reset');
  expect(retryWait({ error: reset, waitMs: 1400, asked: false, retry: 1, retries: 5 })).toEqual({
    reason: 'h: the connection was reset',
    next: 'trying again in 1 s, 1 of 5',
  });
});

test('the tally counts each file once, and only bytes that moved', () => {
  const tally = new Tally();
  tally.add(outcome());
  tally.add(outcome({ result: 'resumed', saved: 60, moved: 40 }));
  tally.add(outcome({ result: 'skipped', bytes: 500, moved: 0 }));
  tally.add(outcome({ result: 'failed', bytes: 0, moved: 0, error: new FilingsError('temporary', 'x') }));
  expect([tally.files.failed, tally.total, tally.onlyTemporary]).toEqual([1, 4, true]);
  const end = { undone: 2, stoppedBy: undefined, exitCode: 7, ms: 3200, bytes: 200, requests: 4 };
  expect(summaryText(tally, end)).toBe(
    '2 downloaded (140 B), 1 of them resumed (60 B saved), 1 skipped, 1 failed (1 worth another run), 2 left undone; 4 requests, 3.2 s',
  );
  tally.kept = 10_000_000;
  expect(summaryText(tally, end)).toContain('2 left undone, 10 MB kept: the same command goes on; 4 requests');
  tally.add(outcome({ result: 'failed', bytes: 0, moved: 0, error: new FilingsError('not_found', 'x') }));
  expect(tally.onlyTemporary).toBe(false);
});
