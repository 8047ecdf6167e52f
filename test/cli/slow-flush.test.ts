import { expect } from 'vitest';
import { readReport } from '../program/batch.ts';
import { head } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { allow, HELD_FLUSHES } from './held-flushes.ts';
import { ACCESSION, serviceAt, TELLS_SIGTERM, test, until, type Workplace } from './program.ts';

// On a disk whose flushes take long, the files that wait for theirs hold no job, and all promises hold for them.

const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `f${at}.htm`);
const NAMES = namesOf(20);
/** With two jobs: four files that wait for their flush without a job, and two with one. */
const TWO_JOBS = ['-j', '2'];
const MAX_WAITING = 6;

/** Starts a download on a disk whose flushes are held. */
async function start(
  place: Workplace,
  args: readonly string[],
  { names = NAMES, isRefused = (_path: string): boolean | Promise<boolean> => false, body = 'a file' } = {},
) {
  const server = await scripted(async (socket, { path }) => {
    if (await isRefused(path)) socket.write(head(403, { 'Content-Length': 0 }));
    else socket.write(`${head(200, { 'Content-Length': body.length })}${body}`);
  });
  const env = { ...serviceAt(server.url), ...(await place.hook(HELD_FLUSHES, TELLS_SIGTERM)) };
  const running = place.start(['download', ACCESSION, ...names, '--report', '../report', ...args], env);
  return {
    server,
    running,
    /** Waits until so many whole files wait for their flush, and no more come. */
    async haveArrived(count: number): Promise<void> {
      await place.haveParts(running, body.length, count);
      await running.says(`${count} flushes wait`);
      expect([await place.parts(), server.requests]).toMatchObject([{ length: count }, { length: count }]);
    },
    /** Lets the held flushes go. Returns the exit status, stderr, and the result of each file in the report. */
    async release() {
      await allow(place.path, 'go');
      const { exitCode, stderr } = await running.ended;
      const results = readReport(await place.read('../report')).files.map(({ result }) => result);
      return { exitCode, stderr, results: results.sort() };
    },
  };
}

const times = (count: number, result: string) => Array<string>(count).fill(result);
const downloaded = (count: number) => times(count, 'downloaded');

test('while files wait for their flush, so many others arrive, and none has its name', async ({ place }) => {
  const { running, haveArrived, release } = await start(place, TWO_JOBS);
  await haveArrived(MAX_WAITING);
  expect([await place.names(), running.stderr()]).toEqual([await place.parts(), '6 flushes wait\n']);
  expect(await release()).toMatchObject({ exitCode: 0, results: downloaded(20) });
  expect((await place.names()).sort()).toEqual([...NAMES].sort());
});

test('after SIGTERM files that wait for their flush get their names and lines', async ({ place }) => {
  const { server, running, haveArrived, release } = await start(place, TWO_JOBS);
  await haveArrived(MAX_WAITING);
  running.kill('SIGTERM');
  await running.says('SIGTERM arrives');
  expect(await release()).toMatchObject({
    exitCode: 143,
    stderr: expect.stringMatching(/^6 downloaded .*36 B.*14 files not started/m),
    results: downloaded(MAX_WAITING),
  });
  expect(server.requests).toHaveLength(MAX_WAITING);
  expect((await place.names()).sort()).toEqual(NAMES.slice(0, MAX_WAITING).sort());
});

test('a failed flush stops the run, and only files whose own flush succeeds get their names', async ({ place }) => {
  const { server, running, haveArrived, release } = await start(place, TWO_JOBS);
  await haveArrived(MAX_WAITING);
  await allow(place.path, 'fail');
  await place.haveParts(running, 6, MAX_WAITING - 1);
  expect(await release()).toMatchObject({ exitCode: 8, results: [...downloaded(MAX_WAITING - 1), 'failed'] });
  expect(server.requests).toHaveLength(MAX_WAITING);
  expect([(await place.names()).length, await place.parts()]).toEqual([MAX_WAITING - 1, []]);
});

const LARGE = { names: namesOf(4), body: 'x'.repeat((1 << 20) + 1) };
test.for`
  rule                                               | args                  | files    | waiting | exit  | all
  ${'files of over 1 MiB keep their jobs'}           | ${''}                 | ${LARGE} | ${2}    | ${0}  | ${4}
  ${'with one job no other file is requested'}       | ${'-j 1'}             | ${{}}    | ${1}    | ${0}  | ${20}
  ${'such a file is in progress for --max-bytes'}    | ${'--max-bytes 1'}    | ${{}}    | ${2}    | ${10} | ${2}
  ${'such a file is in progress for --max-requests'} | ${'--max-requests 5'} | ${{}}    | ${5}    | ${10} | ${5}
`('while a file waits for its flush: $rule', async ({ args, files, waiting, exit, all }, { place }) => {
  const { server, haveArrived, release } = await start(place, [...TWO_JOBS, ...args.split(' ').filter(Boolean)], files);
  await haveArrived(waiting);
  expect(await release()).toMatchObject({ exitCode: exit, results: downloaded(all) });
  expect(server.requests).toHaveLength(all);
});

test('a file that arrives between many of 403 ends their row although it waits for its flush', async ({ place }) => {
  const names = namesOf(23);
  const { server, running, release } = await start(place, TWO_JOBS, {
    names,
    async isRefused(path) {
      const index = Number(/\d+/.exec(path.split('=f')[1] ?? ''));
      // Of the others, 10 come before it and 12 after it.
      if (index > 10) await place.haveParts(running, 'a file'.length);
      return index !== 10;
    },
  });
  await until(() => server.requests.length === names.length, running.stderr);
  expect(await release()).toMatchObject({ exitCode: 3, results: [...downloaded(1), ...times(22, 'failed')] });
});
