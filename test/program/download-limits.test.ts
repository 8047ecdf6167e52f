import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { longEnough } from '../patience.ts';
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

/** Runs the batch until it ends with 0; each run before that ends with 10. Gives how many runs it took. */
async function untilDone(place: Awaited<ReturnType<typeof setUp>>['place'], lines: string[], args: string[]) {
  for (let runs = 1; runs < 30; runs += 1) {
    const { exitCode, report } = await place.batch(lines, args);
    if (exitCode === 0) return runs;
    expect(exitCode).toBe(10);
    expect(report.summaries.at(-1)).toMatchObject({ stopped_by: 'limit', failed: 0, exit_code: 10 });
  }
  return expect.fail('it never came to its end');
}

describe('--max-bytes', () => {
  it.each([
    ['one job', 1, 25_000, 7],
    ['four jobs, which finish what they have started', 4, 25_000, 7],
    ['less than one file', 1, 1, 20],
  ])('%s: no download starts beyond it, and the next runs continue', async (_what, jobs, size, most) => {
    const { archive, place } = await setUp(20);
    const runs = await untilDone(place, lines(20), ['--max-bytes', `${size}`, '-j', `${jobs}`]);
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

  it('never ends a run in which nothing is left to do', async () => {
    const { place } = await setUp(3);
    await place.batch([A], ['--all']);
    expect((await place.batch([A], ['--all', '--max-bytes', '1'])).exitCode).toBe(0);
  });

  it('does not keep one named file from its end', async () => {
    const { place } = await setUp(1);
    expect((await place.batch(undefined, [A, 'f000.htm', '--max-bytes', '5kB'])).exitCode).toBe(0);
  });
});

describe('--max-requests', () => {
  it('counts listings and files', async () => {
    const { archive, place } = await setUp(11);
    const { exitCode, report } = await place.batch([A], ['--all', '--max-requests', '4', '-j', '1']);
    expect(exitCode).toBe(10);
    expect(archive.requests).toHaveLength(4);
    expect(report.summaries).toMatchObject([{ downloaded: 3, requests: 4, failed: 0, stopped_by: 'limit' }]);
  });

  it('passes over filings that are there until one file was missing', async () => {
    const numbers = [1, 2, 3, 4, 5].map(accession);
    const archive = await startArchive(Object.fromEntries(numbers.map((number) => [number, filing(1)])));
    const place = await batchPlace(archive.env);
    await place.batch(numbers.slice(0, 3), ['--all']);
    const { exitCode, report } = await place.batch(numbers, ['--all', '--max-requests', '1', '-j', '1']);
    expect(exitCode).toBe(10);
    expect(report.summaries.at(-1)).toMatchObject({ downloaded: 1, skipped: 3, stopped_by: 'limit' });
  });

  it('counts tries and redirects', async () => {
    const { archive, place } = await setUp(10, {
      instead(socket, { name, before, request }) {
        if (name === undefined || before > 1) return false;
        if (before === 0) socket.write(head(429, { 'Content-Length': 0, 'Retry-After': '0' }));
        else socket.write(head(302, { 'Content-Length': 0, Location: `${request.path}&again` }));
        return true;
      },
    });
    const { exitCode, report } = await place.batch(lines(10), ['--max-requests', '8', '-j', '1']);
    expect(exitCode).toBe(10);
    // Three requests each: the third file finishes.
    expect(archive.requests).toHaveLength(9);
    expect(report.summaries).toMatchObject([{ downloaded: 3, requests: 9, retries: 3, failed: 0 }]);
  });
});

describe('--stop-after', () => {
  it('lets what is in flight end well, and begins no more', async () => {
    const { exitCode, report } = await longEnough(
      async (seconds) => {
        const { archive, place } = await setUp(10, {
          instead(socket, { name }) {
            if (name !== 'f002.htm') return false;
            setTimeout(() => socket.write(`${head(200, { 'Content-Length': 2 })}ok`), seconds * 1500);
            return true;
          },
        });
        return { ...(await place.batch(lines(10), ['--stop-after', `${seconds}s`, '-j', '1'])), archive };
      },
      ({ archive }) => archive.asked().includes(`${A}/f002.htm`),
    );
    expect(exitCode).toBe(10);
    expect(report.summaries).toMatchObject([{ failed: 0, stopped_by: 'limit', exit_code: 10 }]);
    expect(report.files.at(-1)?.file_name).toBe('f002.htm');
  });
});

describe('--limit-rate', () => {
  it.each([
    ['a batch', lines(6), [], 6],
    ['one named file', undefined, [A, 'f000.htm'], 1],
  ])(
    '%s takes at least its bytes over the rate, but for a burst of a quarter of a second',
    async (_what, input, args, files) => {
      const { place } = await setUp(6);
      const rate = files * 10_000;
      const began = performance.now();
      const { exitCode } = await place.batch(input, [...args, '--limit-rate', `${rate}/s`]);
      expect(exitCode).toBe(0);
      expect(performance.now() - began).toBeGreaterThanOrEqual(740);
    },
  );
});

describe('--dry-run', () => {
  it('writes nothing but the report, asks no listing for named files, and sums up', async () => {
    const { archive, place } = await setUp(3);
    const keeping = ['--checksums', '--done', 'done', '--failed', 'failed', '-d', 'out'];
    const named = await place.batch(lines(2), ['-n', ...keeping]);
    expect(archive.asked()).toEqual([]);
    expect(named.stdout.toString()).toBe('');
    expect(named.stderr).toMatch(/2 would be downloaded.*2 requests/);
    const chosen = await place.batch([A, accession(2)], ['-n', '--all', ...keeping]);
    expect(chosen.exitCode).toBe(3);
    expect(archive.asked()).toEqual([A, accession(2)]);
    expect(chosen.stderr).toMatch(/3 would be downloaded \(30 kB as listed\), with 3 requests/);
    expect(chosen.stderr).toMatch(new RegExp(`out/${A}/f000.htm: would be downloaded`));
    // Each is told as soon as the disk has answered.
    const planned = chosen.report.files
      .slice(2)
      .filter(({ result }) => result === 'planned')
      .sort((a, b) => (`${a.file_name}` < `${b.file_name}` ? -1 : 1));
    expect(planned).toMatchObject(
      names(3).map((file_name) => ({ accession_no: A, file_name, result: 'planned', bytes: SIZE })),
    );
    expect(chosen.report.summaries.at(-1)).toMatchObject({ planned: 3, downloaded: 0, failed: 1, exit_code: 3 });
    expect(await place.names()).toEqual(['report']);
  });

  it('reads the done list, and passes over what is there', async () => {
    const { archive, place } = await setUp(3);
    await place.batch([`${A} f000.htm`], []);
    const before = archive.asked().length;
    const there = await place.batch([A], ['-n', '--all', '-j', '1']);
    expect(there.report.files.slice(1).map(({ result }) => result)).toEqual(['skipped', 'planned', 'planned']);
    await place.batch([A], ['--all', '--done', 'done']);
    const known = await place.batch([A], ['-n', '--all', '--done', 'done']);
    expect(known.report.summaries.at(-1)).toMatchObject({ planned: 0, done: 1 });
    expect(archive.asked().length - before).toBe(1 + 3);
  });

  it('what --if-exists error would refuse has failed', async () => {
    const { place } = await setUp(2);
    await place.batch([`${A} f000.htm`], []);
    const { exitCode, report } = await place.batch([A], ['-n', '--all', '--if-exists', 'error', '-j', '1']);
    expect(exitCode).toBe(3);
    expect(report.files.slice(1).map(({ result }) => result)).toEqual(['failed', 'planned']);
  });

  it.each(['skip', 'overwrite'])('what a directory is in the way of has failed: --if-exists %s', async (ifExists) => {
    const { place } = await setUp(2);
    await mkdir(join(place.path, 'out', A, 'f000.htm'), { recursive: true });
    const { exitCode, report, stderr } = await place.batch(
      [A],
      ['-n', '--all', '-d', 'out', '--if-exists', ifExists, '-j', '1'],
    );
    expect(exitCode).toBe(3);
    expect(report.files.slice(-2).map(({ result }) => result)).toEqual(['failed', 'planned']);
    expect(stderr).toContain('a directory is in the way');
  });

  it('one named file', async () => {
    const { archive, place } = await setUp(1);
    const { exitCode, stderr } = await place.filings(['download', A, 'f000.htm', '-n'], archive.env);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/f000.htm: would be downloaded\n1 would be downloaded, with 1 request;/);
    expect(archive.asked()).toEqual([]);
    expect(await place.names()).toEqual([]);
  });

  it('one named file that would fail ends with its own code, told once', async () => {
    const { archive, place } = await setUp(1);
    const download = ['download', A, 'f000.htm'];
    await place.filings(download, archive.env);
    const there = await place.filings([...download, '-n', '--if-exists', 'error', '--report', '-'], archive.env);
    expect(there.exitCode).toBe(8);
    expect(there.stderr.match(/it already exists/g)).toHaveLength(1);
    expect(there.stderr).not.toContain('1 of 1');
    const [file, end] = there.stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(file).toMatchObject({ result: 'failed', verified_length: false, error: { exit_code: 8 } });
    expect(end.summary).toMatchObject({ failed: 1, exit_code: 8 });
    const other = await place.filings([...download, '-n', '--sha256', '0'.repeat(64)], archive.env);
    expect(other.exitCode).toBe(9);
    expect(other.stderr).toContain('wrong hash');
  });

  it('one named file with -o says where it would go', async () => {
    const { archive, place } = await setUp(1);
    const { exitCode, stderr } = await place.filings(['download', A, 'f000.htm', '-n', '-o', 'other'], archive.env);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/other: would be downloaded/);
    expect(await place.names()).toEqual([]);
  });
});
