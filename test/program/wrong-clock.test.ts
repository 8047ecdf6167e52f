import { expect, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head, sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { readReport } from './batch.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const HOUR = 3_600_000;

/** A service whose clock is right, and which asks for a wait until some milliseconds later; `asked` is called then. */
async function busy(ms: number, asked = () => {}) {
  const server = await scripted((socket, request) => {
    if (request.index > 0) return sendFile(socket, request, Buffer.from('it'), '"v1"');
    asked();
    const [date = '', later = ''] = [Date.now(), Date.now() + ms].map((time) => new Date(time).toUTCString());
    socket.write(head(503, { Date: date, 'Retry-After': later, 'Content-Length': 0 }));
  });
  return { env: serviceAt(server.url), place: await workplace() };
}

test.each([
  ['is an hour ahead', HOUR, HOUR],
  ['is set an hour ahead as an answer is waited for', 0, HOUR],
])('a clock that %s changes no wait until a date', async (_, before, after) => {
  let ahead = before;
  const { place, env } = await busy(200_000, () => {
    ahead = after;
  });
  const waits: number[] = [];
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm'], env, {
    ahead: () => ahead,
    sleep: (ms, signal) => {
      const isAsked = ms > 100_000;
      if (isAsked) waits.push(Math.round(ms / 10_000));
      return sleep(isAsked ? 0 : ms, signal);
    },
  });
  expect(exitCode, stderr).toBe(0);
  // The job's, and the limiter's for all jobs.
  expect(waits).toEqual([20, 20]);
});

test.each([HOUR, -HOUR])('a wait beyond the cap is told by the own clock, %i ms off', async (ahead) => {
  const { place, env } = await busy(2 * HOUR);
  const args = ['download', ACCESSION, 'a.htm', '--report', 'report'];
  expect((await place.filings(args, env, { ahead })).exitCode).toBe(7);
  const [line] = readReport(await place.read('report')).files;
  const hours = (Date.parse(line?.retry_at ?? '') - (Date.now() + ahead)) / HOUR;
  expect(Math.round(hours * 10) / 10).toBe(2);
});
