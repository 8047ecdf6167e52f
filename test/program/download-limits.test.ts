import { mkdir, readFile, writeFile } from 'node:fs/promises';
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

describe('--max-bytes', () => {
  it.each([1, 4])(
    'with listed sizes, %d jobs: the service sends no more than that; the next runs go on',
    async (jobs) => {
      const { archive, place } = await setUp(20);
      for (let runs = 1, before = 0; runs < 12; runs += 1, before = archive.sent()) {
        const { exitCode, report } = await place.batch([A], ['--all', '--max-bytes', '55kB', '-j', `${jobs}`]);
        expect(archive.sent() - before).toBeLessThanOrEqual(55_000);
        expect(report.summaries.at(-1)).toMatchObject({ bytes: archive.sent() - before, exit_code: exitCode });
        if (exitCode === 0) return expect(archive.asked().filter((asked) => asked.includes('/'))).toHaveLength(20);
        expect(exitCode).toBe(10);
        expect(report.summaries.at(-1)).toMatchObject({ stopped_by: 'limit', failed: 0 });
      }
      expect.fail('it never came to its end');
    },
  );

  it('breaks off a file whose size is learned later; nothing of it has failed', async () => {
    const { place } = await setUp(5, { sizes: false });
    const { exitCode, report } = await place.batch(lines(5), ['--max-bytes', '25kB', '-j', '1']);
    expect(exitCode).toBe(10);
    expect(report.summaries).toMatchObject([{ downloaded: 2, failed: 0, bytes: 20_000, undone: 3 }]);
  });

  it('holds for one named file, too', async () => {
    const { place } = await setUp(1);
    const { exitCode, report, stderr } = await place.batch(undefined, [A, 'f000.htm', '--max-bytes', '5kB']);
    expect(exitCode).toBe(10);
    expect(stderr).toMatch(/--max-bytes/);
    expect(await place.names()).not.toContain('f000.htm');
    expect(report.files).toMatchObject([{ result: 'failed', error: { code: 'limit' } }]);
  });
});

describe('--max-requests', () => {
  it.each([1, 4])('counts listings and files, %d jobs', async (jobs) => {
    const { archive, place } = await setUp(10);
    const { exitCode, report } = await place.batch([A], ['--all', '--max-requests', '4', '-j', `${jobs}`]);
    expect(exitCode).toBe(10);
    expect(archive.requests).toHaveLength(4);
    expect(report.summaries).toMatchObject([{ downloaded: 3, requests: 4, failed: 0, undone: 7, stopped_by: 'limit' }]);
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
    expect(archive.requests).toHaveLength(8);
    // Three requests each, and two of the third file's.
    expect(report.summaries).toMatchObject([{ downloaded: 2, requests: 8, retries: 3, failed: 0 }]);
  });

  it('holds for one named file, too', async () => {
    const { archive, place } = await setUp(1, {
      instead(socket) {
        socket.write(head(429, { 'Content-Length': 0, 'Retry-After': '0' }));
        return true;
      },
    });
    const { exitCode } = await place.batch(undefined, [A, 'f000.htm', '--max-requests', '2']);
    expect(exitCode).toBe(10);
    expect(archive.requests).toHaveLength(2);
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

describe('--min-free', () => {
  it('stops a batch before anything is written: 8, told once, and summed up', async () => {
    const { archive, place } = await setUp(3);
    const { exitCode, report, stderr } = await place.batch([A], ['--all', '--min-free', '900000GiB']);
    expect(exitCode).toBe(8);
    expect(archive.asked()).toEqual([A]);
    expect(report.endsSummed).toBe(true);
    expect(report.summaries).toMatchObject([{ downloaded: 0, exit_code: 8, stopped_by: 'local_io' }]);
    expect(stderr.match(/--min-free/g)).toHaveLength(1);
  });

  it('holds for one named file, too', async () => {
    const { archive, place } = await setUp(1);
    expect((await place.batch(undefined, [A, 'f000.htm', '--min-free', '900000GiB'])).exitCode).toBe(8);
    expect(archive.asked()).toEqual([]);
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

describe('--rate', () => {
  it('is the budget of all shards, of which one takes its part', async () => {
    const { archive, place } = await setUp(1);
    const all = Array.from({ length: 40 }, (_, at) => `${accession(at)} f.htm`);
    const began = performance.now();
    await place.batch(all, ['-q', '--rate', '20/s', '--shard', '1/4']);
    const most = ((performance.now() - began) / 1000) * 5 + 1;
    expect(archive.asked().length).toBeGreaterThan(4);
    expect(archive.asked().length).toBeLessThanOrEqual(Math.ceil(most));
  });
});

describe('--metrics', () => {
  const SAMPLE = /^filings_[a-z_]+(\{result="[a-z]+"\})? [0-9.]+$/;

  it('is Prometheus text, and keeps the last success when a run fails', async () => {
    const { archive, place } = await setUp(3);
    const path = join(place.path, 'filings.prom');
    const sample = (text: string, name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
    expect((await place.batch([A], ['--all', '--metrics', 'filings.prom'])).exitCode).toBe(0);
    const first = await readFile(path, 'utf8');
    for (const line of first.split('\n').slice(0, -1)) if (!line.startsWith('# ')) expect(line).toMatch(SAMPLE);
    expect(first.endsWith('\n')).toBe(true);
    expect(sample(first, 'filings_files{result="downloaded"}'.replace(/[{}]/g, '\\$&'))).toBe(3);
    expect(sample(first, 'filings_bytes')).toBe(archive.sent());
    expect(sample(first, 'filings_requests')).toBe(4);
    expect(sample(first, 'filings_exit_code')).toBe(0);
    const success = sample(first, 'filings_last_success_timestamp_seconds');
    expect(success).toBeGreaterThan(Date.now() / 1000 - 3600);
    expect((await place.batch([`${A} x.htm`], ['--metrics', 'filings.prom'])).exitCode).toBe(3);
    const second = await readFile(path, 'utf8');
    expect(sample(second, 'filings_exit_code')).toBe(3);
    expect(sample(second, 'filings_last_success_timestamp_seconds')).toBe(success);
  });

  it('counts one named file, too', async () => {
    const { place } = await setUp(1);
    await place.batch(undefined, [A, 'f000.htm', '--metrics', 'm']);
    expect((await place.read('m')).toString()).toMatch(`filings_bytes ${SIZE}\n`);
  });

  it('tells when the service asked to come back', async () => {
    const { place } = await setUp(1, {
      instead(socket) {
        socket.write(head(429, { 'Content-Length': 0, 'Retry-After': '9000' }));
        return true;
      },
    });
    await writeFile(join(place.path, 'm'), 'filings_last_success_timestamp_seconds 1700000000\n');
    expect((await place.batch([`${A} x.htm`], ['--metrics', 'm'])).exitCode).toBe(7);
    const text = (await place.read('m')).toString();
    expect(text).toMatch(/^filings_retry_at_timestamp_seconds \d{10}/m);
    expect(text).toMatch(/^filings_last_success_timestamp_seconds 1700000000$/m);
    expect(text).toMatch(/^filings_exit_code 7$/m);
  });
});

describe('--dry-run', () => {
  it('writes nothing but the report, asks no listing for named files, and sums up', async () => {
    const { archive, place } = await setUp(3);
    const keeping = ['--checksums', '--done', 'done', '--failed', 'failed', '--metrics', 'm', '-d', 'out'];
    const named = await place.batch(lines(2), ['-n', ...keeping]);
    expect(archive.asked()).toEqual([]);
    expect(named.stdout.toString()).toBe('');
    expect(named.stderr).toMatch(/2 would be downloaded.*2 requests/);
    const chosen = await place.batch([A, accession(2)], ['-n', '--all', ...keeping]);
    expect(chosen.exitCode).toBe(0);
    expect(archive.asked()).toEqual([A, accession(2)]);
    expect(chosen.stderr).toMatch(/3 would be downloaded \(30 kB as listed\), with 3 requests/);
    expect(chosen.stderr).toMatch(new RegExp(`out/${A}/f000.htm: would be downloaded`));
    // Each is told as soon as the disk has answered.
    const planned = chosen.report.files.slice(2).sort((a, b) => (`${a.file_name}` < `${b.file_name}` ? -1 : 1));
    expect(planned).toMatchObject(
      names(3).map((file_name) => ({ accession_no: A, file_name, result: 'planned', bytes: SIZE })),
    );
    expect(chosen.report.summaries.at(-1)).toMatchObject({ planned: 3, downloaded: 0, unmatched: 1, exit_code: 0 });
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
    expect(there.stderr.match(/it is there already/g)).toHaveLength(1);
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
