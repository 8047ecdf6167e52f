import dns from 'node:dns';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head, sendFile } from '../servers/answers.ts';
import { readReport } from './batch.ts';
import { ACCESSION, asking, filings, linesOf, serviceAt } from './run.ts';

const HOUR = 3_600_000;
const DOWNLOAD = ['download', ACCESSION, 'a.htm'];

/** A service that is busy at first, `times` times, and asks to wait for no time, or until some time later by its own clock. */
const busy = (times: number, ms?: number, asked = () => {}) =>
  asking((socket, request) => {
    if (request.index >= times) return sendFile(socket, request, Buffer.from('a file'), '"v1"');
    asked();
    const [date = '', later = ''] = [Date.now(), Date.now() + (ms ?? 0)].map((time) => new Date(time).toUTCString());
    socket.write(head(503, { Date: date, 'Retry-After': ms === undefined ? 0 : later, 'Content-Length': 0 }));
  });

const WAIT = /a\.htm: 503 .* \(the service asks to wait\); retry (\d) of \d in \d s/;

test('off a terminal each wait is told in a line as it begins, and the file in the end', async () => {
  const { filings } = await busy(2);
  const { stderr, exitCode } = await filings(DOWNLOAD);
  const lines = linesOf(stderr);
  expect([exitCode, ...lines.map((line) => WAIT.exec(line)?.[1])]).toEqual([0, '1', '2', undefined]);
  expect(lines[2]).toBe('a.htm: 6 B');
});

test.each(['--quiet', '--progress=none'])(
  '%s leaves out waits; an error says how many tries there were',
  async (option) => {
    const { filings } = await busy(9);
    for (const command of [DOWNLOAD, ['list', ACCESSION]]) {
      const { stderr, exitCode } = await filings([...command, '--retries', '2', option]);
      expect([exitCode, stderr]).toEqual([7, expect.not.stringContaining('asks to wait')]);
      expect(stderr).toMatch(/^filings: .* of .*: 503 .*; 3 tries\n/);
    }
  },
);

test('a batch tells the waits for its listings, too', async () => {
  const { filings } = await busy(9);
  const { stderr } = await filings(['download', ACCESSION, '--all', '--retries', '1']);
  expect(stderr).toMatch(new RegExp(`^${ACCESSION}: 503 .*; retry 1 of 1 in \\d s$`, 'm'));
  expect(stderr).toMatch(/the listing of .*: 503 .*; 2 tries/);
});

test.each([
  ['is an hour ahead', HOUR, HOUR],
  ['is set an hour ahead as an answer is waited for', 0, HOUR],
])('a clock that %s changes no wait until a date', async (_, before, after) => {
  let ahead = before;
  const { filings } = await busy(1, 200_000, () => {
    ahead = after;
  });
  const waits: number[] = [];
  const { exitCode, stderr } = await filings(DOWNLOAD, undefined, {
    ahead: () => ahead,
    sleep: (ms, signal) => {
      const isAsked = ms > 100_000;
      if (isAsked) waits.push(Math.round(ms / 10_000));
      return sleep(isAsked ? 0 : ms, signal);
    },
  });
  expect(exitCode, stderr).toBe(0);
  expect(waits).toEqual([20]);
});

test.each([HOUR, -HOUR])('a wait beyond the cap is told by the own clock, %i ms off', async (ahead) => {
  const { filings, read } = await busy(1, 2 * HOUR);
  expect((await filings([...DOWNLOAD, '--report', 'report'], undefined, { ahead })).exitCode).toBe(7);
  const [line] = readReport(await read('report')).files;
  const hours = (Date.parse(line?.retry_at ?? '') - (Date.now() + ahead)) / HOUR;
  expect(Math.round(hours * 10) / 10).toBe(2);
});

test('a host name that does not resolve is looked up twice', async () => {
  const error = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
  const lookUp = vi
    .spyOn(dns, 'lookup')
    .mockImplementation(((_: string, __: object, done: (error: Error) => void) => done(error)) as never);
  onTestFinished(() => lookUp.mockRestore());
  const env = serviceAt('https://service.invalid');
  const { exitCode, stderr } = await filings(DOWNLOAD, {
    env,
    // The wait before the retry takes no time; the line of progress keeps its 30 seconds.
    sleep: (ms, signal) => sleep(ms < 10_000 ? 0 : ms, signal),
  });
  expect(exitCode).toBe(7);
  expect(linesOf(stderr)).toEqual([
    expect.stringMatching(/^a\.htm: .*service\.invalid: the name does not resolve; retry 1 of 1 in \d s$/),
    expect.stringMatching(/^filings: a\.htm of .*: service\.invalid: the name does not resolve; 2 tries$/),
    expect.stringMatching(/^ {2}hint: /),
  ]);
  expect(lookUp).toHaveBeenCalledTimes(2);
});
