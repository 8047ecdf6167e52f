import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { allow, holdFlushes } from './held-flushes.ts';
import { ACCESSION, serviceAt, until, type Workplace, workplace } from './program.ts';

// On a disk whose flushes take long, the files that wait for theirs hold no job, and all promises hold for them.

const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `f${at}.htm`);
const NAMES = namesOf(20);
/** With two jobs: four files that wait for their flush without a job, and two with one. */
const TWO_JOBS = ['-j', '2'];
const MAX_WAITING = 6;

/** Starts a download on a disk whose flushes are held, from a service that takes its time. */
async function start(args: readonly string[], names = NAMES, isRefused = (_path: string) => false) {
  let open = 0;
  let mostOpen = 0;
  const server = await scripted(async (socket, { path }) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    await sleep(20);
    open -= 1;
    if (isRefused(path)) socket.write(head(403, { 'Content-Length': 0 }));
    else socket.write(`${head(200, { 'Content-Length': 6 })}a file`);
  });
  const place = await workplace();
  const env = { ...serviceAt(server.url), ...(await holdFlushes(place.path)) };
  const running = place.start(['download', ACCESSION, ...names, '--report', '../report', ...args], env);
  return { place, server, running, mostOpen: () => mostOpen };
}

const partsIn = async (place: Workplace) => (await place.names()).filter((name) => name.endsWith('.filings-part'));

/** Waits until so many whole files wait for their flush, and no more come. */
async function haveArrived(place: Workplace, count: number): Promise<void> {
  const sizes = async () => Promise.all((await partsIn(place)).map(async (name) => (await place.read(name)).length));
  await until(async () => (await sizes()).filter((size) => size === 6).length === count);
  await sleep(300);
  expect(await partsIn(place)).toHaveLength(count);
}

/** Returns the number of report lines with each result. */
async function results(place: Workplace): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of `${await place.read('../report')}`.trim().split('\n')) {
    const { result } = JSON.parse(line);
    if (result !== undefined) counts[result] = (counts[result] ?? 0) + 1;
  }
  return counts;
}

test('while files wait for their flush others arrive, so many and no more, and none has its name', async () => {
  const { place, server, running, mostOpen } = await start(TWO_JOBS);
  await haveArrived(place, MAX_WAITING);
  expect(server.requests).toHaveLength(MAX_WAITING);
  expect([await place.names(), running.stderr()]).toEqual([await partsIn(place), '']);
  await allow(place.path, 'go');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(0);
  expect((await place.names()).sort()).toEqual([...NAMES].sort());
  expect([await results(place), mostOpen()]).toEqual([{ downloaded: 20 }, 2]);
});

test('with one job, each file gets its name before the next one is requested', async () => {
  const { place, server, running } = await start(['-j', '1']);
  await haveArrived(place, 1);
  expect(server.requests).toHaveLength(1);
  await allow(place.path, 'go');
  expect((await running.ended).exitCode).toBe(0);
});

test('after SIGTERM files that wait for their flush get their names and lines, and no other starts', async () => {
  const { place, server, running } = await start(TWO_JOBS);
  await haveArrived(place, MAX_WAITING);
  running.kill('SIGTERM');
  await sleep(100);
  await allow(place.path, 'go');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(143);
  expect(stderr).toMatch(/^6 downloaded .*36 B.*14 not started/m);
  expect(server.requests).toHaveLength(MAX_WAITING);
  expect((await place.names()).sort()).toEqual(NAMES.slice(0, MAX_WAITING).sort());
  expect(await results(place)).toEqual({ downloaded: MAX_WAITING });
});

test('a failed flush stops the run, and only files whose own flush succeeds get their names', async () => {
  const { place, server, running } = await start(TWO_JOBS);
  await haveArrived(place, MAX_WAITING);
  await allow(place.path, 'fail');
  await until(async () => (await partsIn(place)).length === MAX_WAITING - 1);
  await allow(place.path, 'go');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(8);
  expect(server.requests).toHaveLength(MAX_WAITING);
  expect(await place.names()).toHaveLength(MAX_WAITING - 1);
  expect(await partsIn(place)).toEqual([]);
  expect(await results(place)).toEqual({ downloaded: MAX_WAITING - 1, failed: 1 });
});

test.each([
  ['--max-bytes', '1', 2, 2],
  ['--max-requests', '5', 5, 5],
])('a file that waits for its flush counts as in progress for %s', async (limit, value, arrived, downloaded) => {
  const { place, server, running } = await start([...TWO_JOBS, limit, value]);
  await haveArrived(place, arrived);
  await allow(place.path, 'go');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(10);
  expect([server.requests.length, await results(place)]).toEqual([downloaded, { downloaded }]);
});

test('a file that arrives between many of 403 ends their row although it waits for its flush', async () => {
  const names = namesOf(37);
  const { place, server, running } = await start(TWO_JOBS, names, (path) => !path.endsWith('=f18.htm'));
  await until(() => server.requests.length === names.length);
  await allow(place.path, 'go');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(3);
  expect(await results(place)).toEqual({ downloaded: 1, failed: 36 });
});

test('a file whose part is removed before its flush fails for this time alone', async () => {
  const { place, server, running } = await start(TWO_JOBS);
  await haveArrived(place, MAX_WAITING);
  for (const name of await partsIn(place)) await rm(place.at(name));
  await allow(place.path, 'go');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(7);
  expect([server.requests.length, await results(place)]).toEqual([20, { downloaded: 14, failed: 6 }]);
});
