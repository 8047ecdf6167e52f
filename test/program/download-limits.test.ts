import { mkdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head } from '../servers/answers.ts';
import { type ArchiveOptions, accession } from '../servers/archive.ts';
import { archivePlace, lines, names, numbered } from './batch.ts';

const A = accession(1);
const SIZE = 10_000;
const setUp = (count: number, options: ArchiveOptions = {}) => numbered(count, options, SIZE);

describe('--max-bytes', () => {
  it.each([
    ['one job', 1, 25_000, 7],
    ['four jobs, which finish what they have started', 4, 25_000, 7],
    ['less than one file', 1, 1, 20],
  ])('%s: no download starts beyond it, and the next runs continue', async (_what, jobs, size, most) => {
    const { archive, batch } = await setUp(20);
    let runs = 1;
    for (; runs < 30; runs += 1) {
      const { exitCode, report } = await batch(lines(20), ['--max-bytes', `${size}`, '-j', `${jobs}`]);
      if (exitCode === 0) break;
      expect(report.summaries.at(-1)).toMatchObject({ stopped_by: 'limit', failed: 0, exit_code: 10 });
    }
    expect(runs).toBeGreaterThan(1);
    expect(runs).toBeLessThanOrEqual(most);
    expect(archive.sent()).toBe(20 * SIZE);
  });

  it('counts listings, and exceeds the limit by the downloads in flight alone', async () => {
    const { archive, batch } = await setUp(20);
    const { exitCode, report } = await batch([A], ['--all', '--max-bytes', '25kB', '-j', '1']);
    expect(exitCode).toBe(10);
    expect(report.summaries).toMatchObject([{ failed: 0, bytes: archive.sent() }]);
    expect(archive.sent()).toBeGreaterThanOrEqual(25_000);
    expect(archive.sent()).toBeLessThan(35_000);
  });

  it('ends no run in which nothing is left to do, nor keeps one named file from its end', async () => {
    const { batch } = await setUp(3);
    expect((await batch(undefined, [A, 'f000.htm', '--max-bytes', '5kB'])).exitCode).toBe(0);
    await batch([A], ['--all']);
    expect((await batch([A], ['--all', '--max-bytes', '1'])).exitCode).toBe(0);
  });
});

describe('--max-requests', () => {
  it.each(['skip', 'compare'])('passes over files that are there until one was missing: %s', async (ifExists) => {
    const numbers = [1, 2, 3, 4, 5].map(accession);
    const { batch } = await archivePlace(Object.fromEntries(numbers.map((number) => [number, { 'a.htm': 'a' }])));
    await batch(numbers.slice(0, 3), ['--all']);
    const args = ['--all', '--max-requests', '1', '-j', '1', '--if-exists', ifExists];
    const { exitCode, report } = await batch(numbers, args);
    expect(exitCode).toBe(10);
    expect(report.summaries.at(-1)).toMatchObject({ downloaded: 1, skipped: 3, stopped_by: 'limit' });
  });

  it('counts listings, tries and redirects', async () => {
    const { archive, batch } = await setUp(11, {
      instead(socket, { name, before, request }) {
        if (name === undefined || before > 1) return false;
        if (before === 0) socket.write(head(429, { 'Content-Length': 0, 'Retry-After': '0' }));
        else socket.write(head(302, { 'Content-Length': 0, Location: `${request.path}&again` }));
        return true;
      },
    });
    const { exitCode, report } = await batch([A], ['--all', '--max-requests', '8', '-j', '1']);
    expect(exitCode).toBe(10);
    // One for the listing, three for each file: the third file finishes.
    expect(archive.requests).toHaveLength(10);
    expect(report.summaries).toMatchObject([{ downloaded: 3, requests: 10, retries: 3, failed: 0 }]);
  });
});

it('--stop-after lets what is in flight end well, and begins no more', async () => {
  let ms = 0;
  const { batch } = await setUp(10, {
    instead(_socket, { name }) {
      if (name === 'f002.htm') ms = 3_600_000;
      return false;
    },
  });
  const { exitCode, report } = await batch(lines(10), ['--stop-after', '1h', '-j', '1'], { monotonic: () => ms });
  expect(exitCode).toBe(10);
  expect(report.summaries).toMatchObject([{ downloaded: 3, failed: 0, stopped_by: 'limit', exit_code: 10 }]);
});

it.each([
  ['a batch', lines(6), [], 6],
  ['one named file', undefined, [A, 'f000.htm'], 1],
])('--limit-rate: %s waits until its bytes were due, but for a quarter of a second', async (_, input, args, files) => {
  const { batch } = await setUp(6);
  let [now, last] = [0, 0];
  const { exitCode } = await batch(input, [...args, '--limit-rate', `${files * SIZE}/s`, '-j', '1'], {
    monotonic: () => now,
    async sleep(ms, signal) {
      // Whoever waits for less than the report's 100 ms, or for longer than the file takes, waits for something else.
      if (ms <= 100 || ms > 1000) return sleep(ms, signal);
      now += ms;
      last = now;
    },
  });
  expect([exitCode, last]).toEqual([0, expect.closeTo(750, -1)]);
});

describe('--dry-run', () => {
  it('writes nothing but the report, asks no listing for named files, and sums up', async () => {
    const { archive, batch, names: present } = await setUp(3);
    const keeping = ['--checksums', '--done', 'done', '--failed', 'failed', '-d', 'out'];
    const named = await batch(lines(2), ['-n', ...keeping]);
    expect([archive.asked(), `${named.stdout}`]).toEqual([[], '']);
    expect(named.stderr).toMatch(/2 would be downloaded.*2 requests/);
    const { exitCode, stderr, report } = await batch([A, accession(2)], ['-n', '--all', ...keeping]);
    expect([exitCode, archive.asked()]).toEqual([3, [A, accession(2)]]);
    expect(stderr).toContain('3 would be downloaded (30 kB as listed), with 3 requests');
    expect(stderr).toContain(`out/${A}/f000.htm: would be downloaded`);
    expect(report.files.filter(({ bytes }) => bytes === SIZE)).toMatchObject(
      names(3).map((file_name) => ({ accession_no: A, file_name, result: 'planned' })),
    );
    expect(report.summaries.at(-1)).toMatchObject({ planned: 3, downloaded: 0, failed: 1, exit_code: 3 });
    expect(await present()).toEqual(['report']);
  });

  it('reads the done list', async () => {
    const { archive, batch } = await setUp(3);
    await batch([A], ['--all', '--done', 'done']);
    const before = archive.asked().length;
    const { report } = await batch([A], ['-n', '--all', '--done', 'done']);
    expect(report.summaries.at(-1)).toMatchObject({ planned: 0, done: 1 });
    expect(archive.asked()).toHaveLength(before);
  });

  it.each([
    ['skip', 'skipped'],
    ['compare', 'planned'],
  ])('tells what would become of a file whose name a directory has: --if-exists %s', async (how, result) => {
    const { at, batch } = await setUp(3);
    await batch([`${A} f000.htm`]);
    await mkdir(at(`${A}/f001.htm`));
    const { exitCode, report, stderr } = await batch([A], ['-n', '--all', '--if-exists', how]);
    expect([exitCode, ...report.files.slice(1).map((line) => line.result)]).toEqual([3, result, 'failed', 'planned']);
    expect(stderr).toContain('a directory already exists there');
  });

  it.each<[args: string[], exit: number, says: RegExp]>([
    [['missing'], 0, /missing: would be downloaded\n1 would be downloaded, with 1 request;/],
    [['f000.htm', '--if-exists', 'error'], 8, /^filings: f000.htm: it already exists/m],
    [['f000.htm', '--sha256', '0'.repeat(64)], 9, /^filings: .*wrong hash/m],
  ])('one named file: %j', async (args, exit, says) => {
    const { archive, batch, filings, names: present } = await setUp(1);
    await filings(['download', A, 'f000.htm'], archive.env);
    const { exitCode, stderr, report } = await batch(undefined, [A, ...args, '-n']);
    expect(exitCode, stderr).toBe(exit);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain('1 of 1');
    expect(report.files).toMatchObject([{ result: exit === 0 ? 'planned' : 'failed', verified_length: exit === 0 }]);
    expect(report.summaries).toMatchObject([{ exit_code: exit }]);
    expect([archive.asked().length, (await present()).sort()]).toEqual([1, ['f000.htm', 'report']]);
  });
});
