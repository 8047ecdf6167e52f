import { mkdirSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { interruptionError } from '../../src/world.ts';
import { head } from '../servers/answers.ts';
import { type Asked, accession, type Instead } from '../servers/archive.ts';
import { answering, lines, names, numbered, quick } from './batch.ts';
import { openFifo } from './place.ts';
import { linesOf, type RunOptions } from './run.ts';

const A = accession(1);
const QUICK = ['--retries', '0', '-j', '1'];

/** True of the requests for the files whose names match. */
const named =
  (names: RegExp) =>
  ({ name }: Asked) =>
    name !== undefined && names.test(name);
const isListing = ({ name }: Asked) => name === undefined;

const setUp = (count: number, instead: Instead = () => false) => numbered(count, { instead });

describe('--report', () => {
  test('is appended to by every run, even after a torn line, and ends with a summary', async () => {
    const { batch, read, write } = await setUp(2);
    await write('report', '{"torn');
    await batch(lines(1));
    const { report } = await batch(lines(2));
    expect(report.files.map(({ result }) => result).sort()).toEqual(['downloaded', 'downloaded', 'skipped']);
    expect(report.summaries).toMatchObject([
      { downloaded: 1, skipped: 0, not_started: 0, exit_code: 0 },
      { downloaded: 1, skipped: 1, not_started: 0, exit_code: 0 },
    ]);
    expect([report.endsSummed, linesOf(await read('report'))[0]]).toEqual([true, '{"torn']);
  });

  test.each`
    code        | exit   | says
    ${'EPIPE'}  | ${141} | ${/^2 downloaded.*\n$/}
    ${'ENOSPC'} | ${8}   | ${/^filings: --report stdout: cannot write: the disk is full\n {2}hint: choose another file/m}
  `('whose last line alone fails with $code ends the run with $exit', async ({ code, exit, says }) => {
    const { batch } = await setUp(2);
    const stdout = new Writable({
      write: (chunk, _encoding, done) =>
        done(`${chunk}`.includes('"summary"') ? Object.assign(new Error(code), { code }) : undefined),
    });
    const { exitCode, stderr } = await batch(lines(2), ['--report', '-'], { stdout });
    expect([exitCode, stderr]).toEqual([exit, expect.stringMatching(says)]);
  });

  test.for([
    { status: 404, exit: 3, code: 'not_found', attempts: 1 },
    { status: 503, exit: 7, code: 'temporary', attempts: 2 },
  ])('names no file for a listing that failed with $status, and --failed has its accession number', async (failure) => {
    const { status, exit, code, attempts } = failure;
    const { batch, read } = await setUp(1, answering(status, isListing));
    const args = ['--all', '--failed', 'failed', '--retries', '1'];
    const { exitCode, report } = await batch([A, `${A} f000.htm`], args, { sleep: quick });
    expect([exitCode, report.files.length]).toEqual([exit, 2]);
    expect(report.files.filter(({ result }) => result === 'failed')).toMatchObject([
      { accession_no: A, file_name: null, path: null, attempts, error: { code } },
    ]);
    expect(`${await read('failed')}`).toBe(`${A}\n`);
  });
});

test('a listed file that the service does not have is not called misspelt', async () => {
  const { batch } = await setUp(1, answering(404, named(/f000/)));
  const { exitCode, stderr } = await batch(undefined, [A, '--all']);
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(/404.*\n +hint: the file is in the listing, but the service does not have it/);
});

describe('--failed', () => {
  test('writes an input with which a later run retries only the failed files', async () => {
    let isBroken = true;
    const broken = answering(404, named(/f00[7-9]/));
    const { archive, at, batch, read } = await setUp(10, (...asked) => isBroken && broken(...asked));
    expect((await batch(lines(10), ['--failed', 'failed', ...QUICK])).exitCode).toBe(3);
    expect(linesOf(await read('failed'))).toEqual(lines(10).slice(7));
    // Others may read it, as the umask says.
    expect((await stat(at('failed'))).mode & 0o777).toBe(0o666 & ~process.umask());
    isBroken = false;
    const before = archive.asked().length;
    expect((await batch(undefined, ['-i', 'failed', '--failed', 'failed2'])).exitCode).toBe(0);
    expect([archive.asked().length - before, `${await read('failed2')}`]).toEqual([3, '']);
  });

  test('is not replaced by a run that cannot start', async () => {
    const { batch, names, read, write } = await setUp(1);
    await write('failed', 'old\n');
    expect((await batch(undefined, ['-i', 'missing', '--failed', 'failed'])).exitCode).toBe(2);
    expect([(await names()).sort(), `${await read('failed')}`]).toEqual([['failed'], 'old\n']);
  });

  test.each`
    effect                    | service           | exit | says
    ${'decides how it ends'}  | ${() => false}    | ${8} | ${/^filings: .*failed: cannot write/m}
    ${'hides no other error'} | ${answering(404)} | ${3} | ${/failed: cannot write.*\n(.*\n)*filings: 2 of 2 files failed/}
  `('that cannot be written at the end of a run $effect', async ({ service, exit, says }) => {
    const { at, batch } = await setUp(2, (...asked) => {
      mkdirSync(at('failed'), { recursive: true });
      return service(...asked);
    });
    const { exitCode, stderr } = await batch(lines(2), ['--failed', 'failed', ...QUICK]);
    expect([exitCode, stderr]).toEqual([exit, expect.stringMatching(says)]);
  });

  const NAMES = [A, 'f000.htm', 'f001.htm'];
  test.each`
    of            | input        | args     | layout
    ${'an input'} | ${lines(2)}  | ${[]}    | ${undefined}
    ${'FILE'}     | ${undefined} | ${NAMES} | ${'{file_name}'}
  `('of $of is in the last hint, with the layout of the run', async ({ input, args, layout }) => {
    let isBroken = true;
    const { batch } = await setUp(2, (...asked) => isBroken && answering(404)(...asked));
    const { stderr } = await batch(input, [...args, '--failed', 'f', '-d', 'out']);
    const source = layout ? 'ACCESSION and FILE' : 'ACCESSION or --input';
    const retry = `replace ${source} with -i f${layout ? ` --layout '${layout}'` : ''}, and choose another file`;
    expect(stderr).toContain(`hint: to retry the failed files, ${retry} for --failed`);
    isBroken = false;
    await batch(undefined, ['-i', 'f', '--failed', 'f2', '-d', 'out', ...(layout ? ['--layout', layout] : [])]);
    const direct = await batch(input, [...args, '--failed', 'f3', '-d', 'out', '--if-exists', 'skip']);
    expect(direct.report.summaries.at(-1)).toMatchObject({ skipped: 2 });
  });

  test.each`
    of             | args               | hint
    ${'one file'}  | ${[A, 'f000.htm']} | ${'check the file name'}
    ${'a listing'} | ${[A, '--all']}    | ${'check the accession number'}
  `('of $of is in the last hint next to what its error says', async ({ args, hint }) => {
    const { batch } = await setUp(1, answering(404));
    const { stderr } = await batch(undefined, [...args, '--failed', 'f']);
    expect(stderr).toMatch(new RegExp(`hint: ${hint}.*; to retry the failed files, replace ACCESSION .* with -i f`));
  });
});

async function thousandsOfFiles() {
  const { archive, at, filings } = await setUp(1);
  mkdirSync(at(A));
  for (const name of names(3000)) writeFileSync(at(`${A}/${name}`), '');
  return {
    at,
    download: (args: readonly string[], own: RunOptions) =>
      filings(['download', '-i', '-', ...args], archive.env, { input: lines(3000).join('\n'), ...own }),
  };
}

test('a signal ends a run among thousands of files that exist and need no request', async () => {
  const { download } = await thousandsOfFiles();
  const stop = new AbortController();
  let ms = 0;
  // Time passes with each file, and the signal comes in the next turn of the event loop.
  const monotonic = () => {
    ms += 1;
    if (ms === 1000) setImmediate(() => stop.abort(interruptionError('SIGTERM')));
    return ms;
  };
  const { exitCode, stderr } = await download([], { monotonic, interrupt: stop.signal });
  expect([exitCode, stderr]).toEqual([143, expect.stringMatching(/^\d{3,4} skipped, [\d,]+ files not started;/m)]);
});

test('a run whose report nobody reads does not go on with files that exist', async () => {
  const { at, download } = await thousandsOfFiles();
  await (await openFifo(at('fifo'))).write(Buffer.alloc(65_536));
  const stop = new AbortController();
  const ended = download(['--report', at('fifo')], { interrupt: stop.signal });
  // Without a bound, the first run would be over its files before these two.
  for (const name of ['a', 'b']) await download(['--report', name], {});
  stop.abort(interruptionError('SIGTERM'));
  expect((await ended).stderr).toMatch(/^\d+ skipped, [\d,]+ files not started;/m);
});

describe('a batch stops', () => {
  const busy = answering(429, named(/f0(0[2-9]|[1-9])/), { 'Retry-After': 9000 });
  const unlisted = answering(403, isListing);
  const filings = Array.from({ length: 50 }, (_, at) => accession(at));
  test.each`
    when                         | service           | input        | exit | ends  | failed | left  | stopped
    ${'after a 401'}             | ${answering(401)} | ${lines(50)} | ${4} | ${1}  | ${1}   | ${49} | ${'auth'}
    ${'after 20 of 403'}         | ${answering(403)} | ${lines(50)} | ${4} | ${20} | ${20}  | ${30} | ${'auth'}
    ${'after a 401 of listings'} | ${answering(401)} | ${filings}   | ${4} | ${1}  | ${1}   | ${49} | ${'auth'}
    ${'after 20 listings'}       | ${unlisted}       | ${filings}   | ${4} | ${20} | ${20}  | ${30} | ${'auth'}
    ${'for a long wait'}         | ${busy}           | ${lines(50)} | ${7} | ${3}  | ${1}   | ${47} | ${'temporary'}
  `('$when, with exit status $exit', async ({ service, input, exit, ends, failed, left, stopped }) => {
    const { archive, batch } = await setUp(50, service);
    const { exitCode, report } = await batch(input, [...(input === filings ? ['--all'] : []), ...QUICK]);
    const [summary] = report.summaries;
    expect([exitCode, report.files.length, summary?.exit_code]).toEqual([exit, ends, exit]);
    const notStarted = input === filings ? { not_started: 0, filings_not_started: left } : { not_started: left };
    expect(summary).toMatchObject({ failed, ...notStarted });
    expect(summary?.stopped_by).toBe(stopped);
    // A few listings are requested ahead.
    expect(archive.asked().length - ends).toBeLessThanOrEqual(input === filings ? 3 : 0);
  });

  test('after a 401 that is printed once, and files in progress are unfinished and in --failed', async () => {
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

  test('without counting the files that were not started if the input has no end', async () => {
    const { at, batch } = await setUp(1, answering(401));
    await (await openFifo(at('fifo'))).write(`${lines(1).join()}\n`);
    const { exitCode, report } = await batch(undefined, ['-i', 'fifo', ...QUICK]);
    expect([exitCode, report.summaries]).toMatchObject([
      4,
      [{ failed: 1, not_started: null, filings_not_started: null }],
    ]);
  });

  // The fourth file never ends. All lines of an input file are counted, even if they are read in several chunks.
  test('at a signal, with its exit status although a file failed permanently', async () => {
    const interrupt = new AbortController();
    const { batch, write } = await setUp(100, (_socket, { name }) => {
      if (name === 'f003.htm') interrupt.abort(interruptionError('SIGTERM'));
      return name === 'f003.htm';
    });
    await write('in', `${[`${A} x.htm`, ...lines(100)].join(`\n# ${'x'.repeat(2000)}\n`)}\n`);
    const { exitCode, report } = await batch(undefined, ['-i', 'in', ...QUICK], { interrupt: interrupt.signal });
    expect([exitCode, report.endsSummed]).toEqual([143, true]);
    expect(report.files.filter(({ result }) => result === 'unfinished')).toMatchObject([{ file_name: 'f003.htm' }]);
    const counts = { downloaded: 3, failed: 1, unfinished: 1, not_started: 96 };
    expect(report.summaries).toMatchObject([{ ...counts, exit_code: 143, stopped_by: 'interrupted' }]);
  });
});

test('without a match one ACCESSION exits with 5, and an input fails only for filings without files', async () => {
  const { batch } = await setUp(2);
  const one = await batch(undefined, [A, '--include', '*.pdf']);
  expect([one.exitCode, one.report.summaries]).toMatchObject([5, [{ unmatched: 1, exit_code: 5 }]]);
  const { exitCode, stderr, report } = await batch([A, accession(2)], ['--include', '*.pdf']);
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining(`${A}: none of its 2 files`)]);
  expect(report.files).toMatchObject([{ accession_no: accession(2), file_name: null, result: 'failed' }]);
  expect(report.summaries.at(-1)).toMatchObject({ unmatched: 1, failed: 1 });
  expect((await batch([A], ['--include', '*.pdf'])).exitCode).toBe(0);
});
