import { describe, expect, test } from 'vitest';
import { type ErrorCode, FilingsError } from '../../src/errors.ts';
import { type BatchResult, batchError } from '../../src/transfer/verdict.ts';

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

  test('what stopped it says how much was left undone, and keeps its hint', () => {
    const error = batchError(result({ failed: 1, onlyTemporary: false, stoppedBy: stop('auth'), undone: 4 }));
    expect(error?.message).toMatch(/the reason.*4 files left undone/);
    expect(error?.hint).toBe('do this');
  });

  test('filings are not called files, and an unknown rest is told', () => {
    const failed = { failed: 2, onlyTemporary: false, stoppedBy: stop('temporary'), undone: undefined };
    expect(batchError(result(failed), 'filings')?.message).toMatch(/^2 of 5 filings failed.*; the rest left undone$/);
    const refused = { failed: 1, onlyTemporary: false, stoppedBy: stop('auth') };
    expect(batchError(result({ ...refused, undone: 3 }), 'filings')?.message).toMatch(/; 3 filings left undone$/);
  });

  test('the last error does not hide the earlier ones', () => {
    const error = batchError(result({ failed: 2, onlyTemporary: false, stoppedBy: stop('temporary'), undone: 3 }));
    expect(error?.message).toMatch(/2 of 5 files failed/);
    expect(error?.message).toMatch(/the reason/);
  });
});
