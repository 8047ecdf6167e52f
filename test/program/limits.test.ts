// --max-bytes, --max-requests, --stop-after and --limit-rate: what they count, and how they end a run.
import { expect, test, vi } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { heldClock } from '../held-clock.ts';
import { head } from '../servers/answers.ts';
import { accession, type Instead } from '../servers/archive.ts';
import { answering, archivePlace, lines, numbered, quick } from './batch.ts';

const A = accession(1);
const SIZE = 10_000;
/** Without a `total`, a listing of twenty would look like a first page. */
const FILES = 21;
const setUp = (files: number, instead?: Instead) => numbered(files, instead && { instead }, SIZE);

const usual: Instead = () => false;
/** Answers each file by a 429, then by a redirect. */
const moved: Instead = (socket, { name, before, request }) => {
  if (name === undefined || before > 1) return false;
  const fields = { 'Content-Length': 0, 'Retry-After': 0, Location: `${request.path}&again` };
  return socket.write(head(before === 0 ? 429 : 302, fields));
};
/** Cuts a body after 9,000 bytes: always that of the first file, and that of the first listing. */
const cut: Instead = (socket, { name, before }) => {
  if (name ? name !== 'f000.htm' : before > 0) return false;
  socket.end(`${head(200, { 'Content-Length': SIZE })}[${' '.repeat(8999)}`);
  return true;
};
/** The first file is missing, and the answer says so in 6,000 bytes. */
const wordy: Instead = (socket, { name }) =>
  name === 'f000.htm' && socket.write(head(404, { 'Content-Length': 6000 }) + 'x'.repeat(6000));
/** The first file is missing. */
const first = answering(404, ({ name }) => name === 'f000.htm');

// FROM is a list of named files, or a listing. With one job, a run requests nothing beyond its limit.
test.each`
  counts                              | from         | args                              | service  | exit  | asked | summary
  ${'requests'}                       | ${'names'}   | ${'--max-requests 5'}             | ${usual} | ${10} | ${5}  | ${{ requests: 5, downloaded: 5, not_started: 16 }}
  ${'requests that wait for --rate'}  | ${'names'}   | ${'--max-requests 5 --rate 99/s'} | ${usual} | ${10} | ${5}  | ${{ requests: 5 }}
  ${'the request of a listing'}       | ${'listing'} | ${'--max-requests 5'}             | ${usual} | ${10} | ${5}  | ${{ requests: 5, downloaded: 4 }}
  ${'retries and redirects'}          | ${'listing'} | ${'--max-requests 8'}             | ${moved} | ${10} | ${10} | ${{ requests: 10, downloaded: 3, retries: 3 }}
  ${'bytes of files'}                 | ${'names'}   | ${'--max-bytes 25kB'}             | ${usual} | ${10} | ${3}  | ${{ bytes: 30_000, downloaded: 3 }}
  ${'bytes of a listing'}             | ${'listing'} | ${'--max-bytes 11kB'}             | ${usual} | ${10} | ${2}  | ${{ downloaded: 1 }}
  ${'bytes of each try of a listing'} | ${'listing'} | ${'--max-bytes 9kB --retries 1'}  | ${cut}   | ${10} | ${2}  | ${{ downloaded: 0, failed: 0 }}
  ${'bytes of each try of a file'}    | ${'names'}   | ${'--max-bytes 15kB --retries 1'} | ${cut}   | ${7}  | ${2}  | ${{ downloaded: 0, failed: 1, bytes: 18_000 }}
  ${'bytes of errors'}                | ${'names'}   | ${'--max-bytes 5kB'}              | ${wordy} | ${3}  | ${1}  | ${{ downloaded: 0, failed: 1, bytes: 6000 }}
  ${'requests of failed files'}       | ${'names'}   | ${'--max-requests 2'}             | ${first} | ${3}  | ${2}  | ${{ downloaded: 1, failed: 1 }}
`('a limit counts $counts', async ({ from, args, service, exit, asked, summary }) => {
  const { archive, batch } = await setUp(FILES, service);
  const [input, all] = from === 'listing' ? [[A], ['--all']] : [lines(FILES), []];
  const { exitCode, report, stderr } = await batch(input, [...all, '-j1', ...args.split(' ')], { sleep: quick });
  expect([exitCode, archive.asked().length], stderr).toEqual([exit, asked]);
  expect(report.summaries).toMatchObject([{ stopped_by: 'limit', exit_code: exit, ...summary }]);
});

test.each`
  jobs | limit     | most
  ${4} | ${25_000} | ${7}
  ${4} | ${1}      | ${20}
`('$jobs jobs that are limited to $limit bytes fetch each file once in $most runs', async ({ jobs, limit, most }) => {
  const { archive, batch } = await setUp(20);
  const statuses: number[] = [];
  do {
    const before = archive.sent();
    statuses.push((await batch(lines(20), ['--max-bytes', `${limit}`, '-j', `${jobs}`])).exitCode);
    // Each job may have begun a file before the limit was reached.
    expect(archive.sent() - before).toBeLessThan(limit + (jobs + 1) * SIZE);
  } while (statuses.at(-1) === 10);
  expect([statuses.at(-1), archive.sent()]).toEqual([0, 20 * SIZE]);
  expect(statuses.length).toBeGreaterThan(1);
  expect(statuses.length).toBeLessThanOrEqual(most);
});

test('no limit ends a run that has nothing left to do: of one file, or of existing or done files', async () => {
  const { batch } = await setUp(3);
  expect((await batch(undefined, [A, 'f000.htm', '--max-bytes', '5kB'])).exitCode).toBe(0);
  await batch([A], ['--all', '--done', 'done']);
  const args = ['--max-bytes 1', '--max-requests 1', '--max-requests 1 --done done', '--max-requests 1 -n'];
  for (const own of [...args, '--max-requests 1 --checksums'])
    expect((await batch([A], ['--all', ...own.split(' ')])).exitCode, own).toBe(0);
});

test.each(['--stop-after 1s', '--max-requests 1', '--max-bytes 1'])('%s ends a wait for input', async (limit) => {
  const { batch } = await setUp(3);
  const ended = await batch(lines(1), ['-j1', ...limit.split(' ')], { isInputOpen: true });
  expect([ended.exitCode, ended.report.summaries]).toMatchObject([10, [{ downloaded: 1, not_started: null }]]);
});

test('beyond a limit no further filing is listed, and the done list is still read', async () => {
  const numbers = [1, 2, 3, 4, 5].map(accession);
  const filings = Object.fromEntries(numbers.map((number) => [number, { 'a.htm': 'a' }]));
  const { archive, batch } = await archivePlace(filings);
  await batch(numbers.slice(0, 2), ['--all', '--done', 'done']);
  await batch(numbers.slice(2, 3), ['--all']);
  const before = archive.asked().length;
  const { exitCode, report } = await batch(numbers, ['--all', '--done', 'done', '--max-requests', '1', '-j', '1']);
  expect([exitCode, archive.asked().slice(before)]).toEqual([10, [accession(3)]]);
  expect(report.summaries.at(-1)).toMatchObject({
    ...{ done: 2, skipped: 1, downloaded: 0, failed: 0 },
    ...{ not_started: 0, filings_not_started: 2 },
  });
});

// Each request for a file takes 40 minutes.
test('--stop-after starts nothing more, and downloads in progress end normally', async () => {
  let ms = 0;
  const { batch } = await setUp(9, () => {
    ms += 2_400_000;
    return false;
  });
  const { exitCode, stderr, report } = await batch(lines(9), ['--stop-after', '1h', '-j1'], { monotonic: () => ms });
  const summary = { stopped_by: 'limit', downloaded: 2, failed: 0, not_started: 7 };
  expect([exitCode, report.summaries]).toMatchObject([10, [summary]]);
  expect(stderr).toMatch(/^filings: time limit \(3600 s\) reached; 7 files not started\n {2}hint: /m);
});

test.each`
  run                            | args                                             | service  | hint
  ${'downloads a file'}          | ${'--max-requests 2'}                            | ${usual} | ${'run it again to continue'}
  ${'replaces existing files'}   | ${'--max-requests 2 --if-exists overwrite'}      | ${usual} | ${'raise the limit'}
  ${'compares existing files'}   | ${'--max-requests 2 --if-exists compare'}        | ${usual} | ${'raise the limit'}
  ${'lists filings in vain'}     | ${'--max-requests 1 --all -i list'}              | ${usual} | ${'raise the limit'}
  ${'reports only its failures'} | ${'--max-requests 1 --layout {file_name}-2 -j1'} | ${first} | ${'see the errors above'}
`('a run that $run at a limit has the hint: $hint', async ({ args, service, hint }) => {
  let isFirst = true;
  const { batch, write } = await setUp(6, (...asked) => !isFirst && service(...asked));
  await batch(lines(2));
  isFirst = false;
  await write('list', `${A}\n`);
  const own = args.split(' ');
  const { stderr } = await batch(own.includes('list') ? undefined : lines(6), ['-j', '1', ...own]);
  expect(stderr).toContain(`hint: ${hint}`);
});

test('with --quiet a limit prints nothing, unless a file has failed', async () => {
  const { batch } = await setUp(6, first);
  const after = await batch(lines(6).slice(1), ['--max-requests', '2', '-j', '1', '-q']);
  expect([after.exitCode, after.stderr]).toEqual([10, '']);
  const failed = await batch(lines(6), ['--max-requests', '2', '-j', '1', '-q']);
  expect([failed.exitCode, failed.stderr]).toEqual([3, expect.stringContaining('1 of 4 files failed')]);
});

test('--limit-rate ends each file when its bytes are due, after a burst of a quarter of a second', async () => {
  const { archive, batch, filings } = await setUp(4);
  const { pass, sleeping, ...clock } = heldClock();
  const onEnd = vi.fn();
  const ended = batch(lines(4), ['--limit-rate', `${4 * SIZE}/s`, '-j', '1'], {
    monotonic: clock.monotonic,
    // A longer sleep is a time limit.
    sleep: (ms, signal) => (ms > 1000 ? sleep(ms, signal) : clock.sleep(ms, signal)),
  }).then(onEnd);
  for (const [index, waitMs] of [0, 250, 250, 250].entries()) {
    await expect.poll(sleeping).toBe(1);
    if (waitMs > 0) await pass(waitMs - 1);
    // While another run gets the first file, this one would get its next file, too, if it did not wait.
    await filings(['download', A, 'f000.htm', '-d', `other-${index}`], archive.env);
    expect([new Set(archive.asked()).size, onEnd.mock.calls.length]).toEqual([index + 1, 0]);
    await pass(Math.min(waitMs, 1));
  }
  await ended;
  expect(onEnd).toHaveBeenCalledWith(expect.objectContaining({ exitCode: 0 }));
});
