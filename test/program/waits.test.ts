import dns from 'node:dns';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head, sendFile } from '../servers/answers.ts';
import { readReport } from './batch.ts';
import { ACCESSION, asking, filings, linesOf, serviceAt } from './run.ts';

const HOUR = 3_600_000;
const DOWNLOAD = ['download', ACCESSION, 'a.htm'];

/**
 * A service that answers the first `times` requests with 503. Retry-After is 0, or the date `ms` later by its own
 * clock.
 */
const busy = (times: number, ms?: number, onBusy = () => {}) =>
  asking((socket, request) => {
    if (request.index >= times) return sendFile(socket, request, Buffer.from('a file'), '"v1"');
    onBusy();
    const [date = '', later = ''] = [Date.now(), Date.now() + (ms ?? 0)].map((time) => new Date(time).toUTCString());
    socket.write(head(503, { Date: date, 'Retry-After': ms === undefined ? 0 : later, 'Content-Length': 0 }));
  });

test('without a terminal a line is printed at the start of each wait, and one for the file at the end', async () => {
  const { filings } = await busy(2);
  const { stderr, exitCode } = await filings(DOWNLOAD);
  const wait = /a\.htm: 503 .* \(the service asks to wait\); retry (\d) of \d in \d s/;
  const lines = linesOf(stderr);
  expect([exitCode, ...lines.map((line) => wait.exec(line)?.[1])]).toEqual([0, '1', '2', undefined]);
  expect(lines[2]).toBe('a.htm: 6 B');
});

test.each(['--quiet', '--progress=none'])('%s prints no waits, and errors have the number of tries', async (option) => {
  const { filings } = await busy(9);
  for (const command of [DOWNLOAD, ['list', ACCESSION]]) {
    const { stderr, exitCode } = await filings([...command, '--retries', '2', option]);
    expect([exitCode, stderr]).toEqual([7, expect.stringMatching(/^filings: .* of .*: 503 .*; 3 tries\n/)]);
    expect(stderr).not.toContain('asks to wait');
  }
});

test('a batch prints the waits for its listings, too', async () => {
  const { filings } = await busy(9);
  const { stderr } = await filings(['download', ACCESSION, '--all', '--retries', '1']);
  expect(stderr).toMatch(new RegExp(`^${ACCESSION}: 503 .*; retry 1 of 1 in \\d s$`, 'm'));
  expect(stderr).toMatch(/the listing of .*: 503 .*; 2 tries/);
});

test.each`
  clock                                     | before  | after
  ${'is an hour ahead'}                     | ${HOUR} | ${HOUR}
  ${'moves an hour ahead during a request'} | ${0}    | ${HOUR}
`('a clock that $clock does not change the wait until a date', async ({ before, after }) => {
  let ahead = before;
  const { filings } = await busy(1, 200_000, () => {
    ahead = after;
  });
  const waits: number[] = [];
  const { exitCode, stderr } = await filings(DOWNLOAD, undefined, {
    ahead: () => ahead,
    sleep: (ms, signal) => {
      const isServiceWait = ms > 100_000;
      if (isServiceWait) waits.push(Math.round(ms / 10_000));
      return sleep(isServiceWait ? 0 : ms, signal);
    },
  });
  expect([exitCode, waits], stderr).toEqual([0, [20]]);
});

test.each([HOUR, -HOUR])('a wait over the limit is reported in local time with a clock off by %i', async (ahead) => {
  const { filings, read } = await busy(1, 2 * HOUR);
  expect((await filings([...DOWNLOAD, '--report', 'report'], undefined, { ahead })).exitCode).toBe(7);
  const [line] = readReport(await read('report')).files;
  expect((Date.parse(line?.retry_at ?? '') - (Date.now() + ahead)) / HOUR).toBeCloseTo(2, 1);
});

test('a host name that does not resolve is looked up twice', async () => {
  const error = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
  const lookUp = vi
    .spyOn(dns, 'lookup')
    .mockImplementation(((_: string, __: object, done: (error: Error) => void) => done(error)) as never);
  onTestFinished(() => lookUp.mockRestore());
  const { exitCode, stderr } = await filings(DOWNLOAD, {
    env: serviceAt('https://service.invalid'),
    // The wait before the retry takes no time. The progress line keeps its 30 seconds.
    sleep: (ms, signal) => sleep(ms < 10_000 ? 0 : ms, signal),
  });
  expect([exitCode, stderr]).toEqual([7, expect.stringMatching(/; retry 1 of 1 in \d s\nfilings: .*; 2 tries\n/)]);
  expect(lookUp).toHaveBeenCalledTimes(2);
});
