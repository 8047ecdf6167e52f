import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { FilingsError } from '../../src/errors.ts';
import { head } from '../servers/answers.ts';
import { accession, type Instead, startArchive } from '../servers/archive.ts';
import { closedPort } from '../servers/scripted.ts';
import { batchPlace } from './batch.ts';

const A = accession(1);
const names = (count: number) => Array.from({ length: count }, (_, at) => `f${String(at).padStart(3, '0')}.htm`);
const filing = (count: number) => Object.fromEntries(names(count).map((name) => [name, `body of ${name}`]));
const lines = (count: number) => names(count).map((name) => `${A} ${name}`);
const QUICK = ['--retries', '0', '-j', '1'];

/** Answers files of these names with a status. */
const answering =
  (status: number, which: (name: string) => boolean = () => true, fields: Record<string, string> = {}): Instead =>
  (socket, { name }) => {
    if (name === undefined || !which(name)) return false;
    socket.write(head(status, { 'Content-Length': 0, ...fields }));
    return true;
  };

/** Answers listings. */
const listing =
  (status: number, body = ''): Instead =>
  (socket, { name }) => {
    if (name !== undefined) return false;
    socket.write(`${head(status, { 'Content-Length': body.length })}${body}`);
    return true;
  };

async function setUp(count: number, instead?: Instead) {
  const archive = await startArchive({ [A]: filing(count) }, instead ? { instead } : {});
  return { archive, place: await batchPlace(archive.env) };
}

describe('--report', () => {
  it('is appended to by every run, behind a torn line too, and each run ends it with its summary', async () => {
    const { place } = await setUp(3);
    await appendFile(join(place.path, 'report'), '{"v":1,"accession_no":"torn');
    await place.batch(lines(2));
    const { report } = await place.batch(lines(3));
    expect(report.files.map(({ result }) => result).sort()).toEqual(
      ['downloaded', 'downloaded', 'downloaded', 'skipped', 'skipped'].sort(),
    );
    expect(report.summaries).toMatchObject([
      { downloaded: 2, skipped: 0, not_started: 0, exit_code: 0 },
      { downloaded: 1, skipped: 2, not_started: 0, exit_code: 0 },
    ]);
    expect(report.endsSummed).toBe(true);
    expect((await place.read('report')).toString().split('\n')[0]).toBe('{"v":1,"accession_no":"torn');
  });

  it.each([
    ['not found', 404, '', 'not_found'],
    ['no JSON', 200, 'not json', 'integrity'],
  ])(
    'tells a listing that is %s without a name, and its accession alone is in --failed',
    async (_, status, body, code) => {
      const { place } = await setUp(1, listing(status, body));
      const { exitCode, report } = await place.batch([A, `${A} f000.htm`], ['--all', '--failed', 'failed', ...QUICK]);
      expect([exitCode, report.files.length]).toEqual([3, 2]);
      expect(report.files.filter(({ result }) => result === 'failed')).toMatchObject([
        { accession_no: A, file_name: null, path: null, error: { code } },
      ]);
      expect((await place.read('failed')).toString()).toBe(`${A}\n`);
    },
  );
});

describe('--failed', () => {
  it('feeds --input again, which then does what was left', async () => {
    let isBroken = true;
    const { archive, place } = await setUp(
      10,
      (socket, asked) => isBroken && answering(404, (name) => name > 'f006.htm')(socket, asked),
    );
    expect((await place.batch(lines(10), ['--failed', 'failed', ...QUICK])).exitCode).toBe(3);
    expect((await place.read('failed')).toString().split('\n').filter(Boolean)).toEqual(lines(10).slice(7));
    isBroken = false;
    const before = archive.asked().length;
    expect((await place.batch(undefined, ['-i', 'failed', '--failed', 'failed2'])).exitCode).toBe(0);
    expect(archive.asked().length - before).toBe(3);
    expect((await place.read('failed2')).toString()).toBe('');
  });

  it('is replaced only when the run ends, and not by what could not begin', async () => {
    const { place } = await setUp(1);
    await writeFile(join(place.path, 'failed'), 'old\n');
    expect((await place.batch(undefined, ['-i', 'missing', '--failed', 'failed'])).exitCode).toBe(2);
    expect((await place.read('failed')).toString()).toBe('old\n');
    expect((await place.names()).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  it.each<[string, Instead, number, RegExp]>([
    ['is the error of a run that had none', () => false, 8, /^filings: .*failed: cannot write: it is a directory/m],
    ['hides no error', answering(404), 3, /2 of 2 files failed; then .*failed: cannot write: it is a directory/],
  ])('that can not be put in its place %s', async (_, instead, exit, says) => {
    const { place } = await setUp(2, (socket, asked) => {
      mkdirSync(join(place.path, 'failed'), { recursive: true });
      return instead(socket, asked);
    });
    const { exitCode, stderr } = await place.batch(lines(2), ['--failed', 'failed', ...QUICK]);
    expect(exitCode).toBe(exit);
    expect(stderr).toMatch(says);
  });
});

describe('what stops a batch, and its exit status', () => {
  it.each<[string, Instead, number, object, RegExp, number]>([
    ['a 401', answering(401), 4, { failed: 1, not_started: 49, stopped_by: 'auth' }, /49 files not started/, 1],
    ['20 of 403', answering(403), 4, { failed: 20, not_started: 30, stopped_by: 'auth' }, /403 for 20 files/, 20],
    [
      '38 of 403, never 20 in a row',
      answering(403, (name) => name !== 'f019.htm' && name < 'f039'),
      3,
      { failed: 38, downloaded: 12 },
      /38 of 50 files failed/,
      50,
    ],
    ['failures for now', answering(503, (name) => name < 'f003'), 7, { failed: 3 }, /3 of 50 files failed/, 50],
    [
      'a failure for good',
      (socket, asked) => answering(asked.name === 'f000.htm' ? 404 : 503, (name) => name < 'f003')(socket, asked),
      3,
      { failed: 3 },
      /3 of 50 files failed/,
      50,
    ],
  ])('%s', async (_, instead, exit, summary, says, asks) => {
    const { archive, place } = await setUp(50, instead);
    const { exitCode, report, stderr } = await place.batch(lines(50), QUICK);
    expect(exitCode).toBe(exit);
    expect(archive.asked()).toHaveLength(asks);
    expect(report.summaries).toMatchObject([{ exit_code: exit, not_started: 0, ...summary }]);
    expect(stderr).toMatch(says);
  });

  it('a 401 that several files get at once is told once', async () => {
    const { archive, place } = await setUp(50, answering(401));
    const { exitCode, report, stderr } = await place.batch(lines(50), ['--retries', '0', '-j', '4']);
    expect(exitCode).toBe(4);
    expect(stderr.match(/^filings: /gm)).toHaveLength(1);
    // Those that were asked for and broken off by the first are undone, whether or not their answers had come.
    const failed = report.files.length;
    expect(report.summaries).toMatchObject([{ failed, not_started: 50 - failed }]);
    expect(archive.asked().length).toBeLessThanOrEqual(4);
  });

  it('ten files in a row that could not connect: 7', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    const place = await batchPlace({ FILINGS_BASE_URL: url, FILINGS_API_KEY: 'k' });
    const { exitCode, report } = await place.batch(lines(50), QUICK);
    expect([exitCode, report.files.length]).toEqual([7, 10]);
    expect(report.summaries).toMatchObject([{ failed: 10, exit_code: 7, stopped_by: 'temporary', not_started: 40 }]);
  });

  it.each([
    ['403', 20],
    ['401', 1],
  ])('listings of %s', async (status, asks) => {
    const { archive, place } = await setUp(1, listing(Number(status)));
    const filings = Array.from({ length: 60 }, (_, at) => accession(at));
    const { exitCode, report } = await place.batch(filings, ['--all', ...QUICK]);
    expect(exitCode).toBe(4);
    expect(report.files).toHaveLength(asks);
    expect(archive.asked().length).toBeLessThanOrEqual(asks + 3);
    expect(report.summaries).toMatchObject([{ failed: asks, not_started: 60 - asks }]);
  });

  it('a wait asked for over the cap: 7, and when it may be tried again', async () => {
    const { archive, place } = await setUp(
      50,
      answering(429, (name) => name >= 'f002', { 'Retry-After': '9000' }),
    );
    const { exitCode, report, stderr } = await place.batch(lines(50), ['-j', '1']);
    expect(exitCode).toBe(7);
    expect(archive.asked()).toHaveLength(3);
    const [summary] = report.summaries;
    expect(summary).toMatchObject({ downloaded: 2, failed: 1, exit_code: 7, stopped_by: 'temporary', not_started: 47 });
    expect(Date.parse(String(summary?.retry_at))).toBeGreaterThan(Date.now() + 8_900_000 - 60_000);
    expect(report.files.at(-1)?.retry_at).toBe(summary?.retry_at);
    expect(stderr).toContain(String(summary?.retry_at));
  });

  it('a limit loses against a failure, 3 or 7, and is 10 alone', async () => {
    const limited = ['--max-requests', '5', ...QUICK];
    const { place } = await setUp(10);
    expect((await place.batch(lines(10), limited)).exitCode).toBe(10);
    expect((await place.batch([`${A} x.htm`, ...lines(10)], ['-d', 'b', ...limited])).exitCode).toBe(3);
    const broken = await setUp(
      10,
      answering(503, (name) => name === 'f000.htm'),
    );
    expect((await broken.place.batch(lines(10), limited)).exitCode).toBe(7);
  });

  // The fourth file never ends; of an input that is a file all is counted, however many pieces it is read in.
  it.each([
    ['a deadline', 7, 'temporary'],
    ['a signal', 143, 'interrupted'],
  ])('%s: over a failure for good, too', async (what, exit, stopped_by) => {
    const [interrupt, asked] = [new AbortController(), new AbortController()];
    const { place } = await setUp(100, (_socket, { name }) => {
      if (name !== 'f003.htm') return false;
      if (what === 'a deadline') asked.abort();
      else interrupt.abort(new FilingsError('interrupted', 'SIGTERM', { signal: 15, isTimeUp: true }));
      return true;
    });
    await writeFile(join(place.path, 'in'), `${[`${A} x.htm`, ...lines(100)].join(`\n# ${'x'.repeat(2000)}\n`)}\n`);
    const { exitCode, report } = await place.batch(undefined, ['-i', 'in', '--deadline', '1h', ...QUICK], {
      interrupt: interrupt.signal,
      sleep: async (ms, signal) => void (await (ms === 3_600_000 ? once(asked.signal, 'abort') : sleep(ms, signal))),
    });
    expect(exitCode).toBe(exit);
    expect(report.endsSummed).toBe(true);
    expect(report.files.filter(({ result }) => result === 'unfinished')).toMatchObject([{ file_name: 'f003.htm' }]);
    expect(report.summaries).toMatchObject([
      { downloaded: 3, failed: 1, unfinished: 1, not_started: 96, exit_code: exit, stopped_by },
    ]);
  });
});

it('without a match: a single ACCESSION 5; of an input reported, and no failure, but for one without files', async () => {
  const { place } = await setUp(2);
  const one = await place.batch(undefined, [A, '--include', '*.pdf']);
  expect(one.exitCode).toBe(5);
  expect(one.report.summaries).toMatchObject([{ unmatched: 1, exit_code: 5 }]);
  const { exitCode, stderr, report } = await place.batch([A, accession(2)], ['--include', '*.pdf']);
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(new RegExp(`${A}: none of its 2 files`));
  expect(stderr).toMatch(new RegExp(`${accession(2)}: the service lists no files`));
  expect(report.files).toMatchObject([{ accession_no: accession(2), file_name: null, result: 'failed' }]);
  expect(report.summaries.at(-1)).toMatchObject({ unmatched: 1, failed: 1 });
  expect((await place.batch([A], ['--include', '*.pdf'])).exitCode).toBe(0);
});
