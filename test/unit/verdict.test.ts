import { expect, test } from 'vitest';
import { type BatchResult, batchError, createStopRule, isTemporary } from '../../src/batch/verdict.ts';
import { type ErrorCode, FilingsError } from '../../src/errors.ts';

const left = (files: number, filings = 0) => ({ files, filings });
const result = (more: Partial<BatchResult> = {}): BatchResult => ({
  ended: 5,
  failed: 0,
  permanent: 0,
  stoppedBy: undefined,
  notStarted: left(0),
  ...more,
});
const stop = (code: ErrorCode, isInterruption = false) =>
  new FilingsError(code, `${code}: the reason`, { hint: 'do this', stopsRun: true, isInterruption });
const signal = (number: number) =>
  new FilingsError('interrupted', 'interrupted', { signal: number, isInterruption: true });
const permanent = { failed: 1, permanent: 1 };

// A signal decides the exit status first, then the error that stopped the run, then a permanent failure (3), a
// temporary one (7) and a limit (10).
test.each`
  exit         | after                                          | more
  ${undefined} | ${'no failure'}                                | ${{}}
  ${3}         | ${'a permanent failure'}                       | ${permanent}
  ${7}         | ${'only temporary failures'}                   | ${{ failed: 2 }}
  ${4}         | ${'a stop by a 401'}                           | ${{ ...permanent, stoppedBy: stop('auth'), notStarted: left(4) }}
  ${8}         | ${'a stop by a full disk'}                     | ${{ ...permanent, stoppedBy: stop('local_io'), notStarted: left(4) }}
  ${2}         | ${'a stop by a wrong configuration'}           | ${{ stoppedBy: stop('config'), notStarted: left(5) }}
  ${7}         | ${'a stop by a wait over the maximum'}         | ${{ failed: 1, stoppedBy: stop('temporary'), notStarted: left(4) }}
  ${7}         | ${'a stop by a wait, and a permanent failure'} | ${{ ...permanent, failed: 2, stoppedBy: stop('temporary') }}
  ${7}         | ${'a deadline, and a permanent failure'}       | ${{ ...permanent, stoppedBy: stop('temporary', true) }}
  ${143}       | ${'a signal, and a permanent failure'}         | ${{ ...permanent, stoppedBy: signal(15), notStarted: left(4) }}
  ${10}        | ${'a limit'}                                   | ${{ stoppedBy: stop('limit'), notStarted: left(4) }}
  ${7}         | ${'a limit, and a temporary failure'}          | ${{ failed: 1, stoppedBy: stop('limit'), notStarted: left(4) }}
  ${3}         | ${'a limit, and a permanent failure'}          | ${{ ...permanent, stoppedBy: stop('limit'), notStarted: left(4) }}
`('a batch ends with $exit after $after', ({ more, exit }) => {
  expect(batchError(result(more))?.exitStatus).toBe(exit);
});

const auth = { ...permanent, stoppedBy: stop('auth') };
const deadline = { ...permanent, stoppedBy: stop('temporary', true), notStarted: left(3) };
const limited = { ...permanent, stoppedBy: stop('limit'), notStarted: left(2) };
test.each`
  hint         | more                                             | message
  ${undefined} | ${permanent}                                     | ${'1 of 5 files failed'}
  ${undefined} | ${{ failed: 2 }}                                 | ${'2 of 5 files failed'}
  ${'do this'} | ${{ ...auth, notStarted: left(4) }}              | ${'auth: the reason; 4 files not started'}
  ${'do this'} | ${{ ...auth, notStarted: left(4, 1) }}           | ${'auth: the reason; 4 files and 1 filing not started'}
  ${'do this'} | ${{ ...auth, notStarted: left(0, 2) }}           | ${'auth: the reason; 2 filings not started'}
  ${'do this'} | ${auth}                                          | ${'auth: the reason'}
  ${'do this'} | ${{ ...auth, notStarted: undefined }}            | ${'auth: the reason; the rest not started'}
  ${undefined} | ${{ stoppedBy: signal(2), notStarted: left(4) }} | ${'interrupted'}
  ${'do this'} | ${deadline}                                      | ${'temporary: the reason; 1 of 5 files failed; 3 files not started'}
  ${undefined} | ${{ ...limited, notStarted: left(0) }}           | ${'1 of 5 files failed; limit: the reason'}
  ${undefined} | ${limited}                                       | ${'1 of 5 files failed; limit: the reason; 2 files not started'}
`('a batch with $more has the error message $message', ({ more, message, hint }) => {
  const error = batchError(result(more));
  expect([error?.message, error?.hint]).toEqual([message, hint]);
  expect(batchError(result(more), 'filing')?.message).toBe(message.replace('files failed', 'filings failed'));
});

test.each`
  error                                                          | temporary
  ${new FilingsError('temporary', 'a 503')}                      | ${true}
  ${new FilingsError('integrity', 'cut', { retryable: true })}   | ${true}
  ${new FilingsError('integrity', 'wrong hash')}                 | ${false}
  ${new FilingsError('not_found', 'a 404')}                      | ${false}
  ${new FilingsError('local_io', 'a disk', { retryable: true })} | ${false}
`('running it again is enough after $error.code ($error.reason): $temporary', ({ error, temporary }) => {
  expect(isTemporary(error)).toBe(temporary);
});

const apart = new FilingsError('temporary', 'no', { isUnreachable: true });
const forbidden = new FilingsError('auth', 'no', { problem: { status: 403 } as FilingsError['problem'] });
const foreign = new FilingsError('auth', 'no', { isOtherOrigin: true, hint: 'check the redirect' });
const foreignWait = new FilingsError('temporary', 'no', { isOtherOrigin: true, serviceWaitMs: 1, hint: 'wait' });
const foreignApart = new FilingsError('temporary', 'no', { isOtherOrigin: true, isUnreachable: true, hint: 'later' });
const foreignMissing = new FilingsError('not_found', 'no', { isOtherOrigin: true });
const missing = new FilingsError('not_found', 'no');
const unwritten = new FilingsError('local_io', 'no');
const unwritable = (count: number) =>
  Array.from({ length: count }, (_, at) => new FilingsError('local_io', 'no', { failedDirectory: `/d${at}` }));
const times = (count: number, error: FilingsError | undefined) => Array.from({ length: count }, () => error);
const APART = { message: 'could not connect to the service for 10 files in a row', code: 'temporary', hint: 'later' };
const FOREIGN_APART = { ...APART, message: 'could not connect to the host behind a redirect for 10 files in a row' };
const FORBIDDEN = { message: '403 for 20 files in a row', code: 'auth', hint: 'check the key' };
const UNWRITABLE = {
  message: 'nothing could be written in 10 directories in a row',
  code: 'local_io',
  hint: 'check the disk',
};
const FOREIGN = { message: 'the host behind a redirect refused 20 files in a row', code: 'auth', hint: 'redirect' };
const FULL = { message: 'local_io: the reason', code: 'local_io', hint: 'do this' };
test.each`
  ends                                          | errors                                                          | stop
  ${'10 failures to connect behind a redirect'} | ${times(10, foreignApart)}                                      | ${FOREIGN_APART}
  ${'9 failures to connect'}                    | ${times(9, apart)}                                              | ${undefined}
  ${'10 failures to connect'}                   | ${times(10, apart)}                                             | ${APART}
  ${'10 failures to connect, not in a row'}     | ${[...times(9, apart), missing, undefined, ...times(9, apart)]} | ${undefined}
  ${'many successes, then many missing files'}  | ${[...times(20, undefined), ...times(20, missing)]}             | ${undefined}
  ${'19 times 403'}                             | ${times(19, forbidden)}                                         | ${undefined}
  ${'20 times 403'}                             | ${times(20, forbidden)}                                         | ${FORBIDDEN}
  ${'20 times 403, not in a row'}               | ${[...times(19, forbidden), missing, forbidden]}                | ${undefined}
  ${'19 refusals behind a redirect'}            | ${times(19, foreign)}                                           | ${undefined}
  ${'20 refusals behind a redirect'}            | ${times(20, foreign)}                                           | ${FOREIGN}
  ${'20 refusals and long waits behind one'}    | ${[...times(10, foreign), ...times(10, foreignWait)]}           | ${{ ...FOREIGN, code: 'temporary', hint: 'wait' }}
  ${'20 missing files behind a redirect'}       | ${times(20, foreignMissing)}                                    | ${undefined}
  ${'many files that could not be written'}     | ${times(40, unwritten)}                                         | ${undefined}
  ${'9 directories without a written file'}     | ${[...unwritable(9), ...unwritable(9), missing]}                | ${undefined}
  ${'10 directories without a written file'}    | ${unwritable(10)}                                               | ${UNWRITABLE}
  ${'10 of these, with others in between'}      | ${[...unwritable(9), missing, ...unwritable(10).slice(9)]}      | ${UNWRITABLE}
  ${'10 of these, not in a row'}                | ${[...unwritable(9), undefined, ...unwritable(10).slice(9)]}    | ${undefined}
  ${'a full disk'}                              | ${[stop('local_io')]}                                           | ${FULL}
`('a run stops only after enough equal failures in a row or a fatal one: $ends', ({ errors, stop }) => {
  const rule = createStopRule('file');
  const stops = errors.map((error?: FilingsError) => rule.record(error));
  const last = stop && { ...stop, stopsRun: true, hint: expect.stringContaining(stop.hint) };
  expect(stops).toEqual([...times(errors.length - 1, undefined), last && expect.objectContaining(last)]);
  const reason = errors.at(-1);
  expect(stops.at(-1)?.cause).toBe(stop && !reason.stopsRun ? reason : undefined);
});

test('a file that exists ends a row of directories in which nothing could be written', () => {
  const rule = createStopRule('file');
  for (const error of unwritable(9)) rule.record(error);
  rule.recordSkip();
  expect(rule.record(unwritable(10).at(-1))).toBeUndefined();
});
