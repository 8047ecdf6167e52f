import { mkdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head } from '../servers/answers.ts';
import { type ArchiveOptions, type Asked, accession, type Instead } from '../servers/archive.ts';
import { archivePlace, lines, names, numbered } from './batch.ts';

const A = accession(1);
const SIZE = 10_000;
const setUp = (count: number, options: ArchiveOptions = {}) => numbered(count, options, SIZE);

const filingsOf = (numbers: readonly string[]) =>
  Object.fromEntries(numbers.map((number) => [number, { 'a.htm': 'a' }]));

/**
 * Answers with 404 after 20 turns of the event loop. `beyond(n)` is the highest number of concurrent requests after the
 * first `n`.
 */
function inFlight(isMissing: (asked: Asked) => boolean = () => true) {
  const open: number[] = [];
  let now = 0;
  const answer: Instead = (socket, asked) => {
    now += 1;
    open.push(now);
    turns(20).then(() => {
      now -= 1;
      if (isMissing(asked)) socket.write(head(404, { 'Content-Length': 0 }));
    });
    return isMissing(asked);
  };
  return { answer, beyond: (requests: number) => Math.max(...open.slice(requests)) };
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await setImmediate();
}

/** Sends 9,000 of the 10,000 bytes of a file at every request for it. */
function breaking(file: string): Instead {
  return (socket, { name }) => {
    if (name !== file) return false;
    socket.end(`${head(200, { 'Content-Length': SIZE })}${'x'.repeat(9000)}`);
    return true;
  };
}

describe('--max-bytes', () => {
  it.each([
    ['one job', 1, 25_000, 7],
    ['four jobs', 4, 25_000, 7],
    ['less than one file', 1, 1, 20],
  ])('starts no download beyond the limit, and later runs finish the batch: %s', async (_what, jobs, size, most) => {
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

  it('counts listings, and is exceeded only by the downloads in progress', async () => {
    const { archive, batch } = await setUp(20);
    const { exitCode, report } = await batch([A], ['--all', '--max-bytes', '25kB', '-j', '1']);
    expect(exitCode).toBe(10);
    expect(report.summaries).toMatchObject([{ failed: 0, bytes: archive.sent() }]);
    expect(archive.sent()).toBeGreaterThanOrEqual(25_000);
    expect(archive.sent()).toBeLessThan(35_000);
  });

  it('does not stop a run without missing files, nor the download of one named file', async () => {
    const { batch } = await setUp(3);
    expect((await batch(undefined, [A, 'f000.htm', '--max-bytes', '5kB'])).exitCode).toBe(0);
    await batch([A], ['--all']);
    expect((await batch([A], ['--all', '--max-bytes', '1'])).exitCode).toBe(0);
  });
});

describe('--max-requests', () => {
  it('lists one filing at a time beyond the limit until one missing file is complete', async () => {
    const numbers = [1, 2, 3, 4, 5].map(accession);
    const { archive, batch } = await archivePlace(filingsOf(numbers));
    await batch(numbers.slice(0, 3), ['--all']);
    const { exitCode, report } = await batch(numbers, ['--all', '--max-requests', '3', '-j', '1']);
    expect(exitCode).toBe(10);
    expect(report.summaries.at(-1)).toMatchObject({ downloaded: 1, skipped: 3, requests: 5, stopped_by: 'limit' });
    expect(archive.asked().at(-1)).toBe(`${accession(4)}/a.htm`);
  });

  it.each([
    ['named files', lines(20), []],
    ['the files of a listing', [A], ['--all']],
  ])('is not exceeded by many jobs: %s', async (_, input, args) => {
    const { archive, batch } = await setUp(21);
    const { exitCode, report } = await batch(input, [...args, '--max-requests', '5', '-j', '16']);
    expect([exitCode, archive.asked().length]).toEqual([10, 5]);
    expect(report.summaries).toMatchObject([{ requests: 5, failed: 0, downloaded: 5 - args.length }]);
  });

  it('is not exceeded by many jobs that wait for the request rate', async () => {
    const { archive, batch } = await setUp(20);
    await batch(lines(20), ['--max-requests', '5', '-j', '16', '--rate', '200/s']);
    expect(archive.asked()).toHaveLength(5);
  });

  it('is exceeded by one listing at a time, up to twice the limit', async () => {
    const most = inFlight();
    const numbers = Array.from({ length: 200 }, (_, at) => accession(at));
    const { archive, batch } = await archivePlace({}, { instead: most.answer });
    const { exitCode, report } = await batch(numbers, ['--all', '--max-requests', '5', '-j', '16', '--retries', '0']);
    expect([exitCode, archive.asked().length, most.beyond(5)]).toEqual([3, 10, 1]);
    expect(report.summaries).toMatchObject([{ failed: 10, not_started: 190, stopped_by: 'limit' }]);
  });

  it('counts listings, retries and redirects', async () => {
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
    // One request for the listing and three for each file. The third file is finished.
    expect(archive.requests).toHaveLength(10);
    expect(report.summaries).toMatchObject([{ downloaded: 3, requests: 10, retries: 3, failed: 0 }]);
  });
});

describe('before any download is complete', () => {
  it('a run at its limit starts one file at a time', async () => {
    const most = inFlight(({ name }) => name !== 'f012.htm');
    const { archive, batch } = await setUp(30, { instead: most.answer });
    const { exitCode, report } = await batch(lines(30), ['--max-requests', '8', '-j', '4', '--retries', '0']);
    expect([exitCode, archive.asked().length, most.beyond(8)]).toEqual([3, 13, 1]);
    expect(report.summaries).toMatchObject([{ downloaded: 1, failed: 12, not_started: 17, stopped_by: 'limit' }]);
  });

  it('a run ends at twice the limit', async () => {
    const most = inFlight();
    const { archive, batch } = await setUp(30, { instead: most.answer });
    const { exitCode, stderr } = await batch(lines(30), ['--max-requests', '3', '-j', '4', '--retries', '0']);
    expect([exitCode, archive.asked().length, most.beyond(3)]).toEqual([3, 6, 1]);
    expect(stderr).toContain('6 of 6 files failed; request limit (3) reached; 24 files not started');
  });

  it('the bytes of a file that always breaks count, and the next file is still downloaded', async () => {
    const { archive, batch } = await setUp(9, { instead: breaking('f000.htm') });
    const { exitCode, report } = await batch(lines(9), ['--max-bytes', '15kB', '-j', '1', '--retries', '1']);
    expect(exitCode).toBe(3);
    expect(report.summaries).toMatchObject([{ downloaded: 1, failed: 1, bytes: 28_000, stopped_by: 'limit' }]);
    expect(archive.asked().at(-1)).toBe(`${A}/f001.htm`);
  });

  it('--stop-after follows the same rule', async () => {
    let ms = 0;
    const { archive, batch } = await setUp(9, {
      instead(socket, { name }) {
        ms += 600;
        if (name === 'f003.htm') return false;
        socket.write(head(404, { 'Content-Length': 0 }));
        return true;
      },
    });
    const monotonic = () => ms;
    const { report } = await batch(lines(9), ['--stop-after', '1s', '-j', '1'], { monotonic });
    expect(report.summaries).toMatchObject([{ downloaded: 1, failed: 3 }]);
    // The last file started at 1.2 s, twice 600 ms. Another one would have started at 2.4 s.
    expect(archive.asked()).toHaveLength(4);
  });
});

describe('files that the next run downloads again', () => {
  const WARNING = 'warning: the next run begins again at the first file';
  it.each([
    ['compare', ['--if-exists', 'compare'], { downloaded: 0, skipped: 2 }, true],
    ['compare by default', ['--layout', 'x/{file_name}'], { downloaded: 2, skipped: 0 }, true],
    ['overwrite', ['--if-exists', 'overwrite'], { downloaded: 2, skipped: 0 }, true],
    ['skip', ['--if-exists', 'skip'], { downloaded: 2, skipped: 2 }, false],
  ])('count as downloads, with a warning unless they are skipped: %s', async (_, args, summary, warns) => {
    const { batch } = await setUp(6);
    await batch(lines(2));
    const dry = await batch(lines(6), [...args, '--max-requests', '2', '-n']);
    expect([dry.exitCode, dry.stderr.includes(WARNING)]).toEqual([10, warns]);
    const { exitCode, stderr, report } = await batch(lines(6), [...args, '--max-requests', '2', '-j', '1']);
    expect([exitCode, stderr.includes(WARNING)]).toEqual([10, warns]);
    expect(report.summaries.at(-1)).toMatchObject({ ...summary, requests: 2 });
    expect(stderr).toContain(warns ? 'hint: raise the limit' : 'hint: run again to continue');
  });

  it('cause no warning if the run ends before a limit', async () => {
    const { batch } = await setUp(2);
    const { exitCode, stderr } = await batch(lines(2), ['--if-exists', 'overwrite', '--max-requests', '9']);
    expect([exitCode, stderr.includes(WARNING)]).toEqual([0, false]);
  });

  it('include those whose listed size differs from the existing file', async () => {
    const { batch, write } = await setUp(4);
    for (const name of names(2)) await write(`${A}/${name}`, 'short');
    const { exitCode, stderr } = await batch([A], ['--all', '--max-requests', '4', '-j', '1']);
    // Both sizes differ. The third file is complete.
    expect([exitCode, stderr.includes(WARNING)]).toEqual([3, true]);
  });
});

it('--stop-after finishes the download in progress and starts no other', async () => {
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
])('--limit-rate delays the end of %s, with a burst of a quarter of a second', async (_, input, args, files) => {
  const { batch } = await setUp(6);
  let [now, last] = [0, 0];
  const { exitCode } = await batch(input, [...args, '--limit-rate', `${files * SIZE}/s`, '-j', '1'], {
    monotonic: () => now,
    async sleep(ms, signal) {
      // A sleep up to 100 ms is the report's, and one over a second is a time limit. Only the others are the rate's.
      if (ms <= 100 || ms > 1000) return sleep(ms, signal);
      now += ms;
      last = now;
    },
  });
  expect([exitCode, last]).toEqual([0, expect.closeTo(750, -1)]);
});

describe('a dry run with a limit plans as many files as the run downloads', () => {
  it.each<[args: string[], input: string[], planned: number]>([
    [['--max-requests', '3'], lines(9), 3],
    [['--max-requests', '3', '--all'], [A], 2],
    [['--max-requests', '1', '--all'], [A], 1],
    [['--max-bytes', '25kB', '--all'], [A], 3],
    [['--max-bytes', '25kB'], lines(9), 9],
    [['--max-requests', '100', '--all'], [A], 9],
  ])('%j', async (args, input, planned) => {
    const { archive, batch } = await setUp(9);
    const dry = await batch(input, ['-n', ...args, '-j', '1']);
    const isEnded = planned < 9;
    expect(dry.exitCode).toBe(isEnded ? 10 : 0);
    expect(dry.report.summaries).toMatchObject([{ planned, requests: archive.asked().length, failed: 0 }]);
    expect(dry.report.summaries[0]?.not_started).toBe(9 - planned);
    expect(dry.stderr).toContain(`${planned} would be downloaded`);
    // Without a listing, sizes are unknown.
    if (args[0] === '--max-bytes' && args.length === 2) return;
    const run = await batch(input, [...args, '-j', '1']);
    expect([run.exitCode, run.report.summaries[1]?.downloaded]).toEqual([dry.exitCode, planned]);
  });

  it('exits with 0 if no file is missing', async () => {
    const { batch } = await setUp(3);
    await batch([A], ['--all']);
    for (const args of [['-n'], []])
      expect((await batch([A], ['--all', '--max-requests', '1', ...args])).exitCode).toBe(0);
  });
});

it('filings of the done list are skipped beyond a limit, too', async () => {
  const numbers = [1, 2, 3].map(accession);
  const { batch } = await archivePlace(filingsOf([...numbers, accession(4)]));
  await batch(numbers, ['--all', '--done', 'done']);
  const args = ['--all', '--done', 'done', '--max-requests', '1', '-j', '1'];
  const { exitCode, report } = await batch([accession(4), ...numbers], args);
  expect([exitCode, report.summaries.at(-1)]).toMatchObject([0, { downloaded: 1, done: 3, requests: 2 }]);
});

it('bytes of a listing that is read twice are counted twice', async () => {
  const { archive, batch } = await setUp(5, {
    instead(socket, { name, before }) {
      if (name !== undefined || before > 0) return false;
      socket.end(`${head(200, { 'Content-Length': 9000 })}[${' '.repeat(7999)}`);
      return true;
    },
  });
  const { report } = await batch([A], ['--all', '-j', '1']);
  expect(report.summaries).toMatchObject([{ downloaded: 5, bytes: archive.sent() + 8000 }]);
});

describe('--dry-run', () => {
  it('writes only the report, requests no listing for named files, and prints the totals', async () => {
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

  it('skips filings of the done list', async () => {
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
  ])('reports the result for a file whose name a directory has, with --if-exists %s', async (how, result) => {
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
    [['f000.htm', '-o', 'missing/f000.htm'], 8, /^filings: .*missing: cannot write: the directory is not there/m],
    [['f000.htm', '--sha256', '0'.repeat(64)], 9, /^filings: .*wrong hash/m],
  ])('of one named file has the exit status of the run: %j', async (args, exit, says) => {
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
