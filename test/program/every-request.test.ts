// Every request, even a redirect or a repeated one, is counted, waits for the rate, and is not sent before the time that
// the service asks for.
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { type Sleep, sleep } from '../../src/abort.ts';
import { head } from '../servers/answers.ts';
import { accession, type Instead } from '../servers/archive.ts';
import { part } from '../service/jwt-forge.ts';
import { answering, archivePlace } from './batch.ts';

const [A, B] = [accession(1), accession(2)];
const FILES = { 'f0.htm': 'zero', 'f1.htm': 'one', 'f2.htm': 'two' };
const LINES = Object.keys(FILES).map((name) => `${A} ${name}`);

/**
 * Back-offs take no time. Waits for the rate or for Retry-After take no time either, but advance the clock, and `waits`
 * has their seconds.
 */
async function setUp(instead: Instead) {
  const waits: number[] = [];
  let waitedMs = 0;
  const noTime: Sleep = async (ms, signal) => {
    // A batch prints its progress every minute.
    const isTurn = ms > 50_000 && ms !== 60_000;
    const isBackoff = ms > 1000 && ms < 1600;
    await sleep(isTurn || isBackoff ? 0 : ms, signal);
    if (!isTurn) return;
    waits.push(Math.round(ms / 1000));
    waitedMs += ms;
  };
  // The clock runs at a hundredth of real time, so that waits stay whole seconds on a busy machine.
  const monotonic = () => performance.now() / 100 + waitedMs;
  const runOptions = { env: { FILINGS_IDLE_TIMEOUT: '40s' }, sleep: noTime, monotonic };
  return { waits, ...(await archivePlace({ [A]: FILES, [B]: FILES }, { instead }, runOptions)) };
}

test('a redirect waits for --rate like any request', async () => {
  const { batch, waits } = await setUp((socket, asked) => {
    const fields = { Location: `${asked.request.path}&again` };
    return answering(302, ({ before }) => before === 0, fields)(socket, asked);
  });
  expect((await batch(LINES, ['--rate', '1/m'])).exitCode).toBe(0);
  expect(waits).toEqual([60, 60, 60, 60, 60]);
});

test('a request that an expired token prevents does not count', async () => {
  const token = `${part({ alg: 'HS256' })}.${part({ nbf: 1, exp: 2 })}.${part({})}`;
  const env = { FILINGS_JWT: token, FILINGS_KEY_IN: 'header' };
  const { archive, batch } = await archivePlace({ [A]: FILES }, {}, { env });
  const { exitCode, report } = await batch(LINES);
  expect([exitCode, archive.asked()]).toEqual([4, []]);
  expect(report.summaries).toMatchObject([{ requests: 0 }]);
});

test('Retry-After delays the other files, although the first file is not retried', async () => {
  const { batch, waits } = await setUp(answering(429, ({ name }) => name === 'f0.htm', { 'Retry-After': 200 }));
  const { exitCode, report } = await batch(LINES, ['--retries', '0', '-j', '1']);
  expect(exitCode).toBe(7);
  expect(report.summaries).toMatchObject([{ downloaded: 2, failed: 1 }]);
  expect(waits).toEqual([200]);
});

test('a Retry-After over the limit for the next listing stops the retries of earlier files', async () => {
  let begin: (socket: Socket) => void = () => {};
  const first = new Promise<Socket>((resolve) => {
    begin = resolve;
  });
  const { archive, batch } = await setUp((socket, { accession: filing, name, before }) => {
    if (filing === A && name === undefined) return false;
    if (name === 'f0.htm' && before === 0) begin(socket);
    // The listing of the second filing gets a 429 while files are in progress. Then one of these files gets a 503.
    const refuse = (file: Socket) =>
      socket.write(head(429, { 'Content-Length': 0, 'Retry-After': 400 }), () =>
        file.write(head(503, { 'Content-Length': 0 })),
      );
    if (filing === B) void first.then(refuse);
    return true;
  });
  const { exitCode, report } = await batch([A, B], ['--all', '-j', '3']);
  expect([exitCode, archive.asked().filter((asked) => asked === `${A}/f0.htm`).length]).toEqual([7, 1]);
  expect(report.summaries).toMatchObject([{ stopped_by: 'temporary', retry_at: expect.any(String) }]);
});
