import { expect, test } from 'vitest';
import { StopRule } from '../../src/batch/stop-rule.ts';
import { FilingsError, type FilingsErrorDetails } from '../../src/errors.ts';

const failure = (details: FilingsErrorDetails = {}) => new FilingsError('temporary', 'a reason', details);
const unreachable = () => failure({ connected: false, hint: 'check the address' });

test.each<[string, boolean, FilingsError | undefined]>([
  ['one that went well', false, undefined],
  ['one that failed', false, failure()],
  ['one without a connection', false, unreachable()],
  ['one whose error says so', true, failure({ stopsRun: true })],
  ['a wrong configuration', true, new FilingsError('config', 'HTTPS_PROXY: not a proxy')],
  ['a 403', false, new FilingsError('auth', '403')],
])('after %s: stops: %s', (_what, stops, error) => {
  expect(new StopRule('files').after(error)).toBe(stops ? error : undefined);
});

test.each(['files', 'filings'] as const)(
  'after ten %s in a row without a connection it stops, and says why',
  (things) => {
    const rule = new StopRule(things);
    for (let count = 1; count < 10; count += 1) expect(rule.after(unreachable())).toBeUndefined();
    expect(rule.after(unreachable())).toMatchObject({
      code: 'temporary',
      message: `10 ${things} in a row could not even connect`,
      hint: 'check the address',
      stopsRun: true,
    });
  },
);

test('the last of ten that knows no hint is given one, and is the cause', () => {
  const rule = new StopRule('files');
  for (let count = 1; count < 10; count += 1) rule.after(unreachable());
  const last = failure({ connected: false });
  expect(rule.after(last)).toMatchObject({ hint: 'run it again later', cause: last });
});

test.each([
  ['went well', undefined],
  ['failed otherwise', failure()],
])('one between them that %s begins the count anew', (_what, between) => {
  const rule = new StopRule('files');
  for (let count = 1; count < 10; count += 1) rule.after(unreachable());
  rule.after(between);
  for (let count = 1; count < 10; count += 1) expect(rule.after(unreachable())).toBeUndefined();
  expect(rule.after(unreachable())).toBeDefined();
});

const forbidden = () => new FilingsError('auth', 'x', { problem: { status: 403 } });

test.each(['files', 'filings'] as const)('after twenty %s in a row that were answered with 403 it stops', (things) => {
  const rule = new StopRule(things);
  for (let count = 1; count < 20; count += 1) expect(rule.after(forbidden())).toBeUndefined();
  expect(rule.after(forbidden())).toMatchObject({
    code: 'auth',
    exitStatus: 4,
    message: `403 for 20 ${things} in a row`,
    stopsRun: true,
  });
});

test.each([
  ['went well', undefined],
  ['could not connect', unreachable()],
  ['was not found', new FilingsError('not_found', 'x', { problem: { status: 404 } })],
])('one between the 403 that %s begins the count anew', (_what, between) => {
  const rule = new StopRule('files');
  for (let count = 1; count < 20; count += 1) rule.after(forbidden());
  expect(rule.after(between)).toBeUndefined();
  for (let count = 1; count < 20; count += 1) expect(rule.after(forbidden())).toBeUndefined();
  expect(rule.after(forbidden())).toBeDefined();
});
