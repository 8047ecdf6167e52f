import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { head, rangeStart, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { readReport } from './batch.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const HOUR = 3_600_000;
/** The first answer goes no further. */
const HELD_BACK = 2_000_000;
const CLOCKS = [
  ['an hour ahead', HOUR],
  ['an hour behind', -HOUR],
] as const;

async function scripted(script: Script) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}

test.each(CLOCKS)('a clock that is set to be %s as an answer is waited for changes no wait', async (_name, by) => {
  let ahead = 0;
  const times: number[] = [];
  const server = await scripted((socket, request) => {
    times.push(performance.now());
    if (request.index > 0) return sendFile(socket, request, Buffer.from('it'), '"v1"');
    ahead = by;
    const [date, later] = [Date.now(), Date.now() + 2000].map((time) => new Date(time).toUTCString());
    socket.write(head(503, { Date: `${date}`, 'Retry-After': `${later}`, 'Content-Length': 0 }));
  });
  const place = await workplace();
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm'], serviceAt(server.url), {
    ahead: () => ahead,
  });
  expect(exitCode, stderr).toBe(0);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1000);
});

describe.each(CLOCKS)('a machine whose clock is %s', (_name, ahead) => {
  test('waits until the date that the service names, by the service’s clock', async () => {
    const times: number[] = [];
    const server = await scripted((socket, request) => {
      times.push(performance.now());
      if (request.index > 0) return sendFile(socket, request, Buffer.from('it'), '"v1"');
      const now = Date.now();
      const [date, later] = [now, now + 2000].map((time) => new Date(time).toUTCString());
      socket.write(head(503, { Date: `${date}`, 'Retry-After': `${later}`, 'Content-Length': 0 }));
    });
    const place = await workplace();
    const args = ['download', ACCESSION, 'a.htm'];
    const { exitCode, stderr } = await place.filings(args, serviceAt(server.url), { ahead });
    expect(exitCode, stderr).toBe(0);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1000);
  });

  test('tells of a date beyond what it waits by its own clock, so that it comes back at the right moment', async () => {
    const server = await scripted((socket) => {
      const [date, later] = [Date.now(), Date.now() + 2 * HOUR].map((time) => new Date(time).toUTCString());
      socket.write(head(429, { Date: `${date}`, 'Retry-After': `${later}`, 'Content-Length': 0 }));
    });
    const place = await workplace();
    const args = ['download', ACCESSION, 'a.htm', '--report', 'report'];
    const { exitCode } = await place.filings(args, serviceAt(server.url), { ahead });
    expect(exitCode).toBe(7);
    const [line] = readReport(await place.read('report')).files;
    const hours = (Date.parse(line?.retry_at ?? '') - (Date.now() + ahead)) / HOUR;
    expect(Math.round(hours * 10) / 10).toBe(2);
  });

  test('another machine’s part is left alone for a day, and removed then', async () => {
    const FILE = content(3_000_000);
    const server = await scripted((socket, request) => {
      if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
      socket.write(head(200, { ETag: '"v1"', 'Content-Length': FILE.length }));
      socket.write(FILE.subarray(0, HELD_BACK));
    });
    const place = await workplace();
    const run = (hostname: string, more = {}) =>
      place.filings(
        ['download', ACCESSION, 'a.xml', '--report', 'report', '--if-exists', 'overwrite'],
        serviceAt(server.url),
        { hostname, ...more },
      );
    const stop = new AbortController();
    const first = run('one', { interrupt: stop.signal });
    const sizes = async () => Promise.all((await place.names()).map(async (name) => (await place.read(name)).length));
    while (!(await sizes()).includes(HELD_BACK)) await sleep(10);
    stop.abort(new FilingsError('interrupted', 'the test ends it', { signal: 15, stopsRun: true }));
    expect((await first).exitCode).toBe(143);
    const left = (await place.names()).filter((name) => name.startsWith('.')).sort();
    expect(left.map((name) => name.split('.').at(-1)).sort()).toEqual(['part', 'resume']);

    expect((await run('two', { ahead })).exitCode).toBe(0);
    expect((await place.names()).filter((name) => name.startsWith('.')).sort()).toEqual(left);
    const longAgo = Date.now() / 1000 - 26 * 3600;
    for (const name of left) await utimes(join(place.path, name), longAgo, longAgo);
    expect((await run('three', { ahead })).exitCode).toBe(0);
    expect((await place.names()).sort()).toEqual(['a.xml', 'report']);
    expect((await place.read('a.xml')).equals(FILE)).toBe(true);
    expect(server.requests.map(rangeStart).map((start) => (start ?? 0) > 0)).toEqual([false, false, false]);
  });
});
