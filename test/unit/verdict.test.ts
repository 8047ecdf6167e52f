import { describe, expect, test } from 'vitest';
import { type ErrorCode, FilingsError } from '../../src/errors.ts';
import type { Things } from '../../src/transfer/many/stop-rule.ts';
import { type BatchResult, batchError } from '../../src/transfer/many/verdict.ts';

const result = (more: Partial<BatchResult> = {}): BatchResult => ({
  files: 5,
  failed: 0,
  onlyTemporary: true,
  stoppedBy: undefined,
  fromOutside: false,
  undone: 0,
  ...more,
});
const stop = (code: ErrorCode) => new FilingsError(code, `${code}: the reason`, { hint: 'do this', stopsRun: true });

// The interface page: what stopped it (2, 4 or 8) wins; else if every failure is temporary, 7; else 3.
describe('how a batch ends', () => {
  test.each<[string, Partial<BatchResult>, number | undefined]>([
    ['all well', {}, undefined],
    ['one failed for good', { failed: 1, onlyTemporary: false }, 3],
    ['all failed for good', { failed: 5, onlyTemporary: false }, 3],
    ['only temporary failures', { failed: 2 }, 7],
    ['a 401 stops it', { failed: 1, onlyTemporary: false, stoppedBy: stop('auth'), undone: 4 }, 4],
    [
      'a 401 stops it after temporary failures',
      { failed: 2, onlyTemporary: false, stoppedBy: stop('auth'), undone: 3 },
      4,
    ],
    ['a full disk stops it', { failed: 1, onlyTemporary: false, stoppedBy: stop('local_io'), undone: 4 }, 8],
    ['a wrong configuration stops it', { stoppedBy: stop('config'), undone: 5 }, 2],
    ['a wait over the cap stops it', { failed: 1, stoppedBy: stop('temporary'), undone: 4 }, 7],
    [
      'a wait over the cap, after one failed for good',
      { failed: 2, onlyTemporary: false, stoppedBy: stop('temporary'), undone: 3 },
      3,
    ],
    [
      'a deadline, though a file failed for good',
      { failed: 1, onlyTemporary: false, stoppedBy: stop('temporary'), fromOutside: true, undone: 4 },
      7,
    ],
    ['a deadline, nothing failed', { stoppedBy: stop('temporary'), undone: 4 }, 7],
    ['a signal', { stoppedBy: new FilingsError('interrupted', 'interrupted: SIGINT', { signal: 2 }), undone: 4 }, 130],
    [
      'a signal, after one failed for good',
      {
        failed: 1,
        onlyTemporary: false,
        stoppedBy: new FilingsError('interrupted', 'interrupted: SIGTERM', { signal: 15 }),
        undone: 4,
      },
      143,
    ],
  ])('%s', (_, more, exit) => {
    expect(batchError(result(more))?.exitStatus).toBe(exit);
  });

  const auth = { failed: 1, onlyTemporary: false, stoppedBy: stop('auth') };
  const after = { failed: 2, onlyTemporary: false, stoppedBy: stop('temporary') };
  const signal = new FilingsError('interrupted', 'interrupted: SIGINT', { signal: 2 });
  test.each<[string, Partial<BatchResult>, Things | undefined, string, string | undefined]>([
    [
      'failed for good',
      { failed: 1, onlyTemporary: false },
      undefined,
      '1 of 5 files failed',
      'see the errors above; running it again skips what is there',
    ],
    [
      'temporary failures',
      { failed: 2 },
      undefined,
      '2 of 5 files failed',
      'running it again later is enough: what is there is skipped',
    ],
    [
      'filings, failed for good',
      { failed: 1, onlyTemporary: false },
      'filings',
      '1 of 5 filings failed',
      'see the errors above',
    ],
    [
      'filings, temporary failures: nothing is there to be skipped',
      { failed: 2 },
      'filings',
      '2 of 5 filings failed',
      'running it again later is enough',
    ],
    ['stopped', { ...auth, undone: 4 }, undefined, 'auth: the reason; 4 files left undone', 'do this'],
    ['stopped at the last one', { ...auth, undone: 0 }, undefined, 'auth: the reason', 'do this'],
    [
      'stopped, with an unknown rest',
      { ...auth, undone: undefined },
      undefined,
      'auth: the reason; the rest left undone',
      'do this',
    ],
    ['filings, stopped', { ...auth, undone: 3 }, 'filings', 'auth: the reason; 3 filings left undone', 'do this'],
    [
      'by a signal, which explains itself',
      { stoppedBy: signal, fromOutside: true, undone: 4 },
      undefined,
      'interrupted: SIGINT',
      undefined,
    ],
    [
      'the last error does not hide the earlier ones',
      { ...after, undone: 3 },
      undefined,
      '2 of 5 files failed; then temporary: the reason; 3 left undone',
      'see the errors above; running it again skips what is there',
    ],
    [
      'filings, the last error does not hide the earlier ones',
      { ...after, undone: undefined },
      'filings',
      '2 of 5 filings failed; then temporary: the reason; the rest left undone',
      'see the errors above',
    ],
  ])('in words: %s', (_, more, things, message, hint) => {
    expect(batchError(result(more), things)).toMatchObject({ message, hint });
  });
});
