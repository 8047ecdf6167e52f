import { mkdirSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { longEnough } from '../patience.ts';
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

  it('tells a listing that failed with no name, and its accession alone is in --failed', async () => {
    const { place } = await setUp(1, (socket, { accession: asked, name }) => {
      if (name !== undefined || asked !== A) return false;
      socket.write(head(404, { 'Content-Length': 0 }));
      return true;
    });
    const { exitCode, report } = await place.batch([A, `${A} f000.htm`], ['--all', '--failed', 'failed']);
    expect(exitCode).toBe(3);
    expect(report.files.filter(({ result }) => result === 'failed')).toMatchObject([
      { accession_no: A, file_name: null, path: null, error: { code: 'not_found', exit_code: 5 } },
    ]);
    expect((await place.read('failed')).toString()).toBe(`${A}\n`);
  });

  it.each([
    ['a listing that is no JSON', 'not json'],
    ['a listing that is a number', '5'],
    ['a listing that is cut', '[{"file_name":"a.htm"},'],
  ])('%s is one failed entry', async (_what, body) => {
    const { place } = await setUp(1, (socket, { name }) => {
      if (name !== undefined) return false;
      socket.write(`${head(200, { 'Content-Length': body.length })}${body}`);
      return true;
    });
    const { exitCode, report } = await place.batch([A, `${A} f000.htm`], ['--all', ...QUICK]);
    expect(exitCode).toBe(3);
    expect(report.files).toHaveLength(2);
    expect(report.files.find(({ file_name }) => file_name === null)).toMatchObject({ error: { code: 'integrity' } });
  });
});

describe('--failed', () => {
  it('feeds --input again, which then does what was left', async () => {
    let isBroken = true;
    const { archive, place } = await setUp(
      10,
      (socket, asked) => isBroken && answering(404, (name) => name > 'f006.htm')(socket, asked),
    );
    const first = await place.batch(lines(10), ['--failed', 'failed', ...QUICK]);
    expect(first.exitCode).toBe(3);
    expect((await place.read('failed')).toString().split('\n').filter(Boolean)).toEqual(lines(10).slice(7));
    isBroken = false;
    const before = archive.asked().length;
    const again = await place.batch(undefined, ['-i', 'failed', '--failed', 'failed2']);
    expect(again.exitCode).toBe(0);
    expect(archive.asked().length - before).toBe(3);
    expect((await place.read('failed2')).toString()).toBe('');
  });

  it('is replaced only when the run ends, and not by what could not begin', async () => {
    const { place } = await setUp(1);
    await writeFile(join(place.path, 'failed'), 'old\n');
    const { exitCode } = await place.batch(undefined, ['-i', 'missing', '--failed', 'failed']);
    expect(exitCode).toBe(2);
    expect((await place.read('failed')).toString()).toBe('old\n');
    expect((await place.names()).filter((name) => name.includes('tmp'))).toEqual([]);
  });
});

describe('a --failed list that can not be put in its place', () => {
  const inTheWay = async (faults: Parameters<typeof setUp>[1]) => {
    const { place } = await setUp(2, (socket, asked) => {
      mkdirSync(join(place.path, 'failed'), { recursive: true });
      return faults?.(socket, asked) ?? false;
    });
    return place.batch(lines(2), ['--failed', 'failed', ...QUICK]);
  };

  it('is the error of a run that had none', async () => {
    const { exitCode, stderr } = await inTheWay(() => false);
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(/failed: cannot write: it is a directory/);
  });

  it('does not hide the error that the run ended with', async () => {
    const { exitCode, stderr } = await inTheWay(answering(404));
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/2 of 2 files failed; then .*failed: cannot write: it is a directory/);
  });
});

describe('what stops a batch, and its exit status', () => {
  it('a 401: at once, 4', async () => {
    const { archive, place } = await setUp(50, answering(401));
    const { exitCode, report, stderr } = await place.batch(lines(50), [...QUICK, '--failed', 'failed']);
    expect(exitCode).toBe(4);
    expect(archive.asked()).toHaveLength(1);
    expect(report.files).toHaveLength(1);
    expect(report.summaries).toMatchObject([{ failed: 1, exit_code: 4, stopped_by: 'auth', not_started: 49 }]);
    expect(stderr.match(/401/g)).toHaveLength(1);
    expect(stderr).toMatch(/49 files not started/);
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
    const place = await batchPlace({
      FILINGS_BASE_URL: `http://127.0.0.1:${await closedPort()}`,
      FILINGS_API_KEY: 'k',
    });
    const { exitCode, report, stderr } = await place.batch(lines(50), QUICK);
    expect(exitCode).toBe(7);
    expect(report.files).toHaveLength(10);
    expect(report.summaries).toMatchObject([{ failed: 10, exit_code: 7, stopped_by: 'temporary', not_started: 40 }]);
    expect(stderr.match(/^filings: /gm)).toHaveLength(11);
  });

  it('twenty answers of 403 in a row: 4', async () => {
    const { archive, place } = await setUp(50, answering(403));
    const { exitCode, report, stderr } = await place.batch(lines(50), QUICK);
    expect(exitCode).toBe(4);
    expect(archive.asked()).toHaveLength(20);
    expect(report.summaries).toMatchObject([{ failed: 20, exit_code: 4, stopped_by: 'auth', not_started: 30 }]);
    expect(stderr).toMatch(/^filings: 403 for 20 files in a row/m);
  });

  it("nineteen of 403 do not: each is that file's failure, 3", async () => {
    const { place } = await setUp(
      50,
      answering(403, (name) => name !== 'f019.htm' && name < 'f039'),
    );
    const { exitCode, report } = await place.batch(lines(50), QUICK);
    expect(exitCode).toBe(3);
    expect(report.summaries).toMatchObject([{ failed: 38, downloaded: 12, exit_code: 3 }]);
  });

  it.each([
    ['200 in listings of 403', 403, 4, 20],
    ['401', 401, 4, 1],
  ])('%s stop it too', async (_what, status, code, asks) => {
    const archive = await startArchive(
      {},
      {
        instead: (socket) => {
          socket.write(head(status, { 'Content-Length': 0 }));
          return true;
        },
      },
    );
    const place = await batchPlace(archive.env);
    const filings = Array.from({ length: 60 }, (_, at) => accession(at));
    const { exitCode, report } = await place.batch(filings, ['--all', ...QUICK]);
    expect(exitCode).toBe(code);
    expect(report.files).toHaveLength(asks);
    expect(archive.asked().length).toBeLessThanOrEqual(asks + 3);
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

  it('temporary failures alone: 7; with one for good: 3', async () => {
    const { place } = await setUp(
      10,
      answering(503, (name) => name < 'f003'),
    );
    expect((await place.batch(lines(10), QUICK)).exitCode).toBe(7);
    expect((await place.batch([...lines(10), `${A} missing.htm`], QUICK)).exitCode).toBe(3);
    const { report } = await place.batch([], []);
    expect(report.summaries.map(({ exit_code }) => exit_code)).toEqual([7, 3, 0]);
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

  it('a deadline: 7, also over a failure for good, and the report ends with its summary', async () => {
    const { exitCode, report } = await longEnough(
      async (seconds) => {
        const { archive, place } = await setUp(10, (_socket, { name }) => name === 'f003.htm');
        const ended = await place.batch([`${A} x.htm`, ...lines(10)], ['--deadline', `${seconds}s`, ...QUICK]);
        return { ...ended, archive };
      },
      ({ archive }) => archive.asked().includes(`${A}/f003.htm`),
    );
    expect(exitCode).toBe(7);
    expect(report.endsSummed).toBe(true);
    expect(report.summaries).toMatchObject([
      { downloaded: 3, failed: 1, unfinished: 1, exit_code: 7, stopped_by: 'temporary' },
    ]);
  });

  it('a signal: 143, and the report ends with its summary', async () => {
    const interrupt = new AbortController();
    const { place, archive } = await setUp(10, (_socket, { name }) => {
      if (name !== 'f003.htm') return false;
      interrupt.abort(new FilingsError('interrupted', 'SIGTERM', { signal: 15 }));
      return true;
    });
    const input = lines(10)
      .map((line) => `${line}\n`)
      .join('');
    const line = ['download', '-i', '-', '--report', 'report', ...QUICK];
    const { exitCode } = await place.filings(line, archive.env, { input, interrupt: interrupt.signal });
    expect(exitCode).toBe(143);
    const { report } = await place.batch([], []);
    expect(report.summaries[0]).toMatchObject({ downloaded: 3, exit_code: 143, stopped_by: 'interrupted' });
  });
});

describe('what is left undone', () => {
  it('is told of an input that is a file after a signal, too', async () => {
    const interrupt = new AbortController();
    const { place, archive } = await setUp(100, (_socket, { name }) => {
      if (name !== 'f003.htm') return false;
      interrupt.abort(new FilingsError('interrupted', 'SIGTERM', { signal: 15 }));
      return true;
    });
    await writeFile(join(place.path, 'in'), `${lines(100).join('\n# a comment\n')}\n`);
    const line = ['download', '-i', 'in', '--report', 'report', ...QUICK];
    await place.filings(line, archive.env, { interrupt: interrupt.signal });
    const { report } = await place.batch([], []);
    // The one that was broken off has its line.
    expect(report.files.filter(({ result }) => result === 'unfinished')).toHaveLength(1);
    expect(report.summaries[0]).toMatchObject({ downloaded: 3, failed: 0, unfinished: 1, not_started: 96 });
  });

  it('is told of named files, and of filings that were not listed', async () => {
    const { place } = await setUp(50, answering(401));
    const named = await place.batch(undefined, [A, ...names(50), ...QUICK]);
    expect(named.report.summaries.at(-1)).toMatchObject({ failed: 1, not_started: 49, exit_code: 4 });
    const filings = Array.from({ length: 31 }, (_, at) => accession(at + 1));
    const many = await startArchive(Object.fromEntries(filings.map((number) => [number, filing(1)])), {
      instead: answering(401),
    });
    const listed = await (await batchPlace(many.env)).batch(
      [`${A} f000.htm`, ...filings.slice(1)],
      ['--all', ...QUICK],
    );
    expect(listed.report.summaries.at(-1)).toMatchObject({ failed: 1, not_started: 30, exit_code: 4 });
  });
});

describe('without a match', () => {
  it('a single ACCESSION: 5; several of an input: reported, and no failure, but for one without files', async () => {
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
});
