import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { FilingsError } from '../../src/errors.ts';
import { type Fields, head } from '../servers/answers.ts';
import { accession, type Instead } from '../servers/archive.ts';
import { closedPort } from '../servers/scripted.ts';
import { batchPlace, lines, numbered } from './batch.ts';
import { linesOf, serviceAt } from './run.ts';

const A = accession(1);
const QUICK = ['--retries', '0', '-j', '1'];

/** Answers requests for the files whose names match `which` with a status. */
const answering =
  (status: number, which = /./, fields: Fields = {}): Instead =>
  (socket, { name }) => {
    if (name === undefined || !which.test(name)) return false;
    socket.write(head(status, { 'Content-Length': 0, ...fields }));
    return true;
  };

/** Answers requests for listings with a status and a body. */
const listing =
  (status: number, body = ''): Instead =>
  (socket, { name }) => {
    if (name !== undefined) return false;
    socket.write(`${head(status, { 'Content-Length': body.length })}${body}`);
    return true;
  };

const setUp = (count: number, instead: Instead = () => false) => numbered(count, { instead });

describe('--report', () => {
  test('is appended to by every run, also after a torn line, and ends with a summary', async () => {
    const { batch, read, write } = await setUp(3);
    await write('report', '{"v":1,"accession_no":"torn');
    await batch(lines(2));
    const { report } = await batch(lines(3));
    const results = report.files.map(({ result }) => result).sort();
    expect(results).toEqual(['downloaded', 'downloaded', 'downloaded', 'skipped', 'skipped']);
    expect(report.summaries).toMatchObject([
      { downloaded: 2, skipped: 0, not_started: 0, exit_code: 0 },
      { downloaded: 1, skipped: 2, not_started: 0, exit_code: 0 },
    ]);
    expect(report.endsSummed).toBe(true);
    expect(linesOf(await read('report'))[0]).toBe('{"v":1,"accession_no":"torn');
  });

  test.each([
    ['not found', 404, '', 'not_found'],
    ['no JSON', 200, 'not json', 'integrity'],
  ])('names no file for a listing that is %s, and --failed has its accession', async (_, status, body, code) => {
    const { batch, read } = await setUp(1, listing(status, body));
    const { exitCode, report } = await batch([A, `${A} f000.htm`], ['--all', '--failed', 'failed', ...QUICK]);
    expect([exitCode, report.files.length]).toEqual([3, 2]);
    expect(report.files.filter(({ result }) => result === 'failed')).toMatchObject([
      { accession_no: A, file_name: null, path: null, error: { code } },
    ]);
    expect(`${await read('failed')}`).toBe(`${A}\n`);
  });
});

describe('--failed', () => {
  test('writes an input with which a later run retries only the failed files', async () => {
    let isBroken = true;
    const broken = answering(404, /f00[7-9]/);
    const { archive, at, batch, read } = await setUp(10, (socket, asked) => isBroken && broken(socket, asked));
    expect((await batch(lines(10), ['--failed', 'failed', ...QUICK])).exitCode).toBe(3);
    expect(linesOf(await read('failed'))).toEqual(lines(10).slice(7));
    // Others may read it, as the umask says.
    expect((await stat(at('failed'))).mode & 0o777).toBe(0o666 & ~process.umask());
    isBroken = false;
    const before = archive.asked().length;
    expect((await batch(undefined, ['-i', 'failed', '--failed', 'failed2'])).exitCode).toBe(0);
    expect(archive.asked().length - before).toBe(3);
    expect(`${await read('failed2')}`).toBe('');
  });

  test('is not replaced by a run that cannot start', async () => {
    const { batch, names, read, write } = await setUp(1);
    await write('failed', 'old\n');
    expect((await batch(undefined, ['-i', 'missing', '--failed', 'failed'])).exitCode).toBe(2);
    expect(`${await read('failed')}`).toBe('old\n');
    expect((await names()).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  test.each<[string, Instead, number, RegExp]>([
    ['causes the exit status', () => false, 8, /^filings: .*failed: cannot write: it is a directory/m],
    [
      'hides no earlier error',
      answering(404),
      3,
      /failed: cannot write: it is a directory[\s\S]*filings: 2 of 2 files failed/,
    ],
  ])('that cannot be written %s', async (_, instead, exit, says) => {
    const { at, batch } = await setUp(2, (socket, asked) => {
      mkdirSync(at('failed'), { recursive: true });
      return instead(socket, asked);
    });
    const { exitCode, stderr } = await batch(lines(2), ['--failed', 'failed', ...QUICK]);
    expect(exitCode).toBe(exit);
    expect(stderr).toMatch(says);
  });
});

// The hint is a sentence that takes the run to the same places.
test.each`
  line                                               | lines        | hint
  ${'--failed f'}                                    | ${lines(2)}  | ${'run the same command with -i f in place of ACCESSION or the input, and with another --failed file'}
  ${`${A} f000.htm f001.htm`}                        | ${undefined} | ${"run the same command with -i f and --layout '{file_name}' in place of ACCESSION and FILE"}
  ${`${A} f000.htm f001.htm --layout x-{file_name}`} | ${undefined} | ${"with -i f and --layout 'x-{file_name}' in place of"}
`('the last hint of a run with failures names --failed: $line', async ({ line, lines, hint }) => {
  let isBroken = true;
  const { batch } = await setUp(2, (...asked) => isBroken && answering(404)(...asked));
  const { stderr } = await batch(lines, [...line.split(' '), '--failed', 'f', '-d', 'out']);
  expect(stderr).toContain(
    `hint: to retry the failed files, ${hint.startsWith('run') ? hint : `run the same command ${hint}`}`,
  );
  isBroken = false;
  const [, layout] = /--layout '(.*?)'/.exec(stderr) ?? [];
  await batch(undefined, ['-i', 'f', '--failed', 'f2', '-d', 'out', ...(layout ? ['--layout', layout] : [])]);
  const direct = await batch(lines, [...line.split(' '), '--failed', 'f3', '-d', 'out']);
  expect(direct.report.summaries.at(-1)).toMatchObject({ skipped: 2 });
});

test('a body that is cut whenever it is tried is worth another run', async () => {
  const { batch } = await setUp(3, (socket, { name }) => {
    if (name === 'f001.htm') socket.end(`${head(200, { 'Content-Length': 20 })}cut`);
    return name === 'f001.htm';
  });
  const { exitCode, stderr, report } = await batch(lines(3), QUICK);
  expect([exitCode, report.summaries]).toMatchObject([7, [{ downloaded: 2, failed: 1 }]]);
  expect(stderr).toContain('1 failed');
  const one = await batch(undefined, [A, 'f001.htm', ...QUICK]);
  expect(one.exitCode).toBe(9);
});

describe('a batch stops and exits according to its errors', () => {
  const both: Instead = (...asked) => answering(404, /f000/)(...asked) || answering(503, /f00[12]/)(...asked);
  test.each`
    what                      | service                       | exit | asks  | summary                                                | says
    ${'a 401'}                | ${answering(401)}             | ${4} | ${1}  | ${{ failed: 1, not_started: 49, stopped_by: 'auth' }}  | ${'49 files not started'}
    ${'20 of 403'}            | ${answering(403)}             | ${4} | ${20} | ${{ failed: 20, not_started: 30, stopped_by: 'auth' }} | ${'403 for 20 files in a row'}
    ${'a 403 for some files'} | ${answering(403, /f0[0-4]5/)} | ${3} | ${50} | ${{ failed: 5, downloaded: 45, not_started: 0 }}       | ${'5 of 50 files failed'}
    ${'errors of both kinds'} | ${both}                       | ${3} | ${50} | ${{ failed: 3, not_started: 0 }}                       | ${'3 of 50 files failed'}
  `('after $what', async ({ service, exit, asks, summary, says }) => {
    const { archive, batch } = await setUp(50, service);
    const { exitCode, report, stderr } = await batch(lines(50), QUICK);
    expect([exitCode, archive.asked().length]).toEqual([exit, asks]);
    expect(report.summaries).toMatchObject([{ exit_code: exit, ...summary }]);
    expect(stderr).toContain(says);
  });

  test('a 401 is printed once, and files in progress are unfinished and in --failed', async () => {
    let asked = 0;
    const { batch, read } = await setUp(50, (socket) => {
      asked += 1;
      // The first is left without a response, the second in its body, and the third waits for a retry.
      if (asked === 2) socket.write(`${head(200, { 'Content-Length': 20 })}cut`);
      if (asked === 3) socket.write(head(503, { 'Content-Length': 0 }));
      if (asked === 4) socket.write(head(401, { 'Content-Length': 0 }));
      return true;
    });
    const { exitCode, report, stderr } = await batch(lines(50), ['-j', '4', '--failed', 'failed']);
    expect([exitCode, stderr.match(/^filings: /gm)]).toEqual([4, ['filings: ']]);
    const results = report.files.map(({ result, error }) => `${result} ${error?.code}`).sort();
    expect(results).toEqual(['failed auth', ...Array(3).fill('unfinished auth')]);
    expect(report.summaries).toMatchObject([{ failed: 1, unfinished: 3, not_started: 46, stopped_by: 'auth' }]);
    expect(linesOf(await read('failed')).sort()).toEqual(lines(4));
  });

  test('does not count the files that were not started if the input has no end', async () => {
    const { at, batch } = await setUp(1, answering(401));
    execFileSync('mkfifo', [at('fifo')]);
    const writer = await open(at('fifo'), 'r+');
    onTestFinished(() => writer.close());
    await writer.write(`${lines(1).join()}\n`);
    const { exitCode, report } = await batch(undefined, ['-i', 'fifo', ...QUICK]);
    expect(exitCode).toBe(4);
    expect(report.summaries).toMatchObject([{ failed: 1, not_started: null }]);
  });

  test('exits with 7 after ten files in a row without a connection', async () => {
    const { batch } = await batchPlace(serviceAt(`http://127.0.0.1:${await closedPort()}`));
    const { exitCode, report } = await batch(lines(50), QUICK);
    expect([exitCode, report.files.length]).toEqual([7, 10]);
    expect(report.summaries).toMatchObject([{ failed: 10, exit_code: 7, stopped_by: 'temporary', not_started: 40 }]);
  });

  test.each([
    [403, 20],
    [401, 1],
  ])('stops after the first listings with %i', async (status, asks) => {
    const { archive, batch } = await setUp(1, listing(status));
    const filings = Array.from({ length: 60 }, (_, at) => accession(at));
    const { exitCode, report } = await batch(filings, ['--all', ...QUICK]);
    expect([exitCode, report.files.length]).toEqual([4, asks]);
    expect(archive.asked().length).toBeLessThanOrEqual(asks + 3);
    expect(report.summaries).toMatchObject([{ failed: asks, not_started: 60 - asks }]);
  });

  test('exits with 7 if Retry-After is over the limit, and reports the time and the option to raise it', async () => {
    const { archive, batch } = await setUp(50, answering(429, /f0(0[2-9]|[1-9])/, { 'Retry-After': 9000 }));
    const { exitCode, report, stderr } = await batch(lines(50), ['-j', '1']);
    expect(exitCode).toBe(7);
    expect(archive.asked()).toHaveLength(3);
    const [summary] = report.summaries;
    expect(summary).toMatchObject({ downloaded: 2, failed: 1, exit_code: 7, stopped_by: 'temporary', not_started: 47 });
    expect(Date.parse(String(summary?.retry_at))).toBeGreaterThan(Date.now() + 8_900_000 - 60_000);
    expect(report.files.at(-1)?.retry_at).toBe(summary?.retry_at);
    for (const text of [String(summary?.retry_at), '--max-retry-after']) expect(stderr).toContain(text);
  });

  // The fourth file never ends. All lines of an input file are counted, even if they are read in several chunks.
  test.each([
    ['a deadline', 7, 'temporary'],
    ['a signal', 143, 'interrupted'],
  ])('exits with the status of %s although a file failed permanently', async (what, exit, stopped_by) => {
    const [interrupt, asked] = [new AbortController(), new AbortController()];
    const { batch, write } = await setUp(100, (_socket, { name }) => {
      if (name !== 'f003.htm') return false;
      if (what === 'a deadline') asked.abort();
      else interrupt.abort(new FilingsError('interrupted', 'SIGTERM', { signal: 15, isTimeUp: true }));
      return true;
    });
    await write('in', `${[`${A} x.htm`, ...lines(100)].join(`\n# ${'x'.repeat(2000)}\n`)}\n`);
    const { exitCode, report } = await batch(undefined, ['-i', 'in', '--deadline', '1h', ...QUICK], {
      interrupt: interrupt.signal,
      sleep: async (ms, signal) => void (await (ms === 3_600_000 ? once(asked.signal, 'abort') : sleep(ms, signal))),
    });
    expect([exitCode, report.endsSummed]).toEqual([exit, true]);
    expect(report.files.filter(({ result }) => result === 'unfinished')).toMatchObject([{ file_name: 'f003.htm' }]);
    expect(report.summaries).toMatchObject([
      { downloaded: 3, failed: 1, unfinished: 1, not_started: 96, exit_code: exit, stopped_by },
    ]);
  });
});

test('without a match one ACCESSION exits with 5, and an input fails only for filings without files', async () => {
  const { batch } = await setUp(2);
  const one = await batch(undefined, [A, '--include', '*.pdf']);
  expect(one.exitCode).toBe(5);
  expect(one.report.summaries).toMatchObject([{ unmatched: 1, exit_code: 5 }]);
  const { exitCode, stderr, report } = await batch([A, accession(2)], ['--include', '*.pdf']);
  expect(exitCode).toBe(3);
  expect(stderr).toContain(`${A}: none of its 2 files`);
  expect(stderr).toContain(`${accession(2)}: there is no such filing, or it has no files`);
  expect(report.files).toMatchObject([{ accession_no: accession(2), file_name: null, result: 'failed' }]);
  expect(report.summaries.at(-1)).toMatchObject({ unmatched: 1, failed: 1 });
  expect((await batch([A], ['--include', '*.pdf'])).exitCode).toBe(0);
});
