import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head } from '../servers/answers.ts';
import { type ArchiveOptions, accession, startArchive } from '../servers/archive.ts';
import { batchPlace } from './batch.ts';

const A = accession(1);
const SIZE = 10_000;
const names = (count: number) => Array.from({ length: count }, (_, at) => `f${String(at).padStart(3, '0')}.htm`);
const filing = (count: number) => Object.fromEntries(names(count).map((name) => [name, Buffer.alloc(SIZE, name)]));
const lines = (count: number) => names(count).map((name) => `${A} ${name}`);

async function setUp(count: number, options: ArchiveOptions = {}) {
  const archive = await startArchive({ [A]: filing(count) }, options);
  return { archive, place: await batchPlace(archive.env) };
}

describe('--max-bytes', () => {
  it.each([
    ['one job', 1, 25_000, 7],
    ['four jobs, which finish what they have started', 4, 25_000, 7],
    ['less than one file', 1, 1, 20],
  ])('%s: no download starts beyond it, and the next runs continue', async (_what, jobs, size, most) => {
    const { archive, place } = await setUp(20);
    let runs = 1;
    for (; runs < 30; runs += 1) {
      const { exitCode, report } = await place.batch(lines(20), ['--max-bytes', `${size}`, '-j', `${jobs}`]);
      if (exitCode === 0) break;
      expect(report.summaries.at(-1)).toMatchObject({ stopped_by: 'limit', failed: 0, exit_code: 10 });
    }
    expect(runs).toBeGreaterThan(1);
    expect(runs).toBeLessThanOrEqual(most);
    expect(archive.sent()).toBe(20 * SIZE);
  });

  it('counts listings, and exceeds the limit by the downloads in flight alone', async () => {
    const { archive, place } = await setUp(20);
    const { exitCode, report } = await place.batch([A], ['--all', '--max-bytes', '25kB', '-j', '1']);
    expect(exitCode).toBe(10);
    expect(report.summaries).toMatchObject([{ failed: 0, bytes: archive.sent() }]);
    expect(archive.sent()).toBeGreaterThanOrEqual(25_000);
    expect(archive.sent()).toBeLessThan(35_000);
  });

  it('ends no run in which nothing is left to do, nor keeps one named file from its end', async () => {
    const { place } = await setUp(3);
    expect((await place.batch(undefined, [A, 'f000.htm', '--max-bytes', '5kB'])).exitCode).toBe(0);
    await place.batch([A], ['--all']);
    expect((await place.batch([A], ['--all', '--max-bytes', '1'])).exitCode).toBe(0);
  });
});

describe('--max-requests', () => {
  it.each(['skip', 'compare'])('passes over files that are there until one was missing: %s', async (ifExists) => {
    const numbers = [1, 2, 3, 4, 5].map(accession);
    const archive = await startArchive(Object.fromEntries(numbers.map((number) => [number, filing(1)])));
    const place = await batchPlace(archive.env);
    await place.batch(numbers.slice(0, 3), ['--all']);
    const args = ['--all', '--max-requests', '1', '-j', '1', '--if-exists', ifExists];
    const { exitCode, report } = await place.batch(numbers, args);
    expect(exitCode).toBe(10);
    expect(report.summaries.at(-1)).toMatchObject({ downloaded: 1, skipped: 3, stopped_by: 'limit' });
  });

  it('counts listings, tries and redirects', async () => {
    const { archive, place } = await setUp(11, {
      instead(socket, { name, before, request }) {
        if (name === undefined || before > 1) return false;
        if (before === 0) socket.write(head(429, { 'Content-Length': 0, 'Retry-After': '0' }));
        else socket.write(head(302, { 'Content-Length': 0, Location: `${request.path}&again` }));
        return true;
      },
    });
    const { exitCode, report } = await place.batch([A], ['--all', '--max-requests', '8', '-j', '1']);
    expect(exitCode).toBe(10);
    // One for the listing, three for each file: the third file finishes.
    expect(archive.requests).toHaveLength(10);
    expect(report.summaries).toMatchObject([{ downloaded: 3, requests: 10, retries: 3, failed: 0 }]);
  });
});

it('--stop-after lets what is in flight end well, and begins no more', async () => {
  let ms = 0;
  const { place } = await setUp(10, {
    instead(_socket, { name }) {
      if (name === 'f002.htm') ms = 3_600_000;
      return false;
    },
  });
  const args = ['--stop-after', '1h', '-j', '1'];
  const { exitCode, report } = await place.batch(lines(10), args, { monotonic: () => ms });
  expect(exitCode).toBe(10);
  expect(report.summaries).toMatchObject([{ downloaded: 3, failed: 0, stopped_by: 'limit', exit_code: 10 }]);
});

it.each([
  ['a batch', lines(6), [], 6],
  ['one named file', undefined, [A, 'f000.htm'], 1],
])(
  '--limit-rate: %s waits until its bytes were due, but for a quarter of a second',
  async (_what, input, args, files) => {
    const { place } = await setUp(6);
    let [now, last] = [0, 0];
    const { exitCode } = await place.batch(input, [...args, '--limit-rate', `${files * SIZE}/s`, '-j', '1'], {
      monotonic: () => now,
      sleep(ms, signal) {
        // Whoever waits for less than the report's 100 ms, or for longer than the file takes, waits for something else.
        if (ms <= 100 || ms > 1000) return sleep(ms, signal);
        now += ms;
        last = now;
        return Promise.resolve();
      },
    });
    expect([exitCode, last]).toEqual([0, expect.closeTo(750, -1)]);
  },
);

describe('--dry-run', () => {
  it('writes nothing but the report, asks no listing for named files, and sums up', async () => {
    const { archive, place } = await setUp(3);
    const keeping = ['--checksums', '--done', 'done', '--failed', 'failed', '-d', 'out'];
    const named = await place.batch(lines(2), ['-n', ...keeping]);
    expect([archive.asked(), named.stdout.toString()]).toEqual([[], '']);
    expect(named.stderr).toMatch(/2 would be downloaded.*2 requests/);
    const chosen = await place.batch([A, accession(2)], ['-n', '--all', ...keeping]);
    expect(chosen.exitCode).toBe(3);
    expect(archive.asked()).toEqual([A, accession(2)]);
    expect(chosen.stderr).toMatch(/3 would be downloaded \(30 kB as listed\), with 3 requests/);
    expect(chosen.stderr).toMatch(new RegExp(`out/${A}/f000.htm: would be downloaded`));
    expect(chosen.report.files.filter(({ bytes }) => bytes === SIZE)).toMatchObject(
      names(3).map((file_name) => ({ accession_no: A, file_name, result: 'planned' })),
    );
    expect(chosen.report.summaries.at(-1)).toMatchObject({ planned: 3, downloaded: 0, failed: 1, exit_code: 3 });
    expect(await place.names()).toEqual(['report']);
  });

  it('reads the done list', async () => {
    const { archive, place } = await setUp(3);
    await place.batch([A], ['--all', '--done', 'done']);
    const before = archive.asked().length;
    const { report } = await place.batch([A], ['-n', '--all', '--done', 'done']);
    expect(report.summaries.at(-1)).toMatchObject({ planned: 0, done: 1 });
    expect(archive.asked()).toHaveLength(before);
  });

  it.each([
    ['skip', 'skipped'],
    ['compare', 'planned'],
  ])('tells what would become of a file, of what a directory is in the way of: --if-exists %s', async (how, result) => {
    const { place } = await setUp(3);
    await place.batch([`${A} f000.htm`], []);
    await mkdir(join(place.path, A, 'f001.htm'));
    const { exitCode, report, stderr } = await place.batch([A], ['-n', '--all', '--if-exists', how]);
    expect([exitCode, ...report.files.slice(1).map((line) => line.result)]).toEqual([3, result, 'failed', 'planned']);
    expect(stderr).toContain('a directory is in the way');
  });

  it.each<[args: string[], exit: number, says: RegExp]>([
    [['missing'], 0, /missing: would be downloaded\n1 would be downloaded, with 1 request;/],
    [['f000.htm', '--if-exists', 'error'], 8, /^filings: f000.htm: it already exists/m],
    [['f000.htm', '--sha256', '0'.repeat(64)], 9, /^filings: .*wrong hash/m],
  ])('one named file: %j', async (args, exit, says) => {
    const { archive, place } = await setUp(1);
    await place.filings(['download', A, 'f000.htm'], archive.env);
    const { exitCode, stderr, report } = await place.batch(undefined, [A, ...args, '-n']);
    expect(exitCode, stderr).toBe(exit);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain('1 of 1');
    expect(report.files).toMatchObject([{ result: exit === 0 ? 'planned' : 'failed', verified_length: exit === 0 }]);
    expect(report.summaries).toMatchObject([{ exit_code: exit }]);
    expect([archive.asked().length, (await place.names()).sort()]).toEqual([1, ['f000.htm', 'report']]);
  });
});
