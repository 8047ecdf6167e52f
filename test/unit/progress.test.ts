import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { markForRedaction, Secrets } from '../../src/secrets.ts';
import { createProgress, type Progress, type ProgressSettings } from '../../src/terminal/progress.ts';
import { describeProgress, type RunningFile, type RunState } from '../../src/terminal/progress-line.ts';
import type { World } from '../../src/world.ts';
import { heldClock } from '../held-clock.ts';
import { worldOf } from '../settings-world.ts';

const FILE: RunningFile = { name: 'a.htm', bytes: 5e6, totalBytes: 6e6 };
const NO_RESPONSE = { name: 'a.htm' };
const NO_LENGTH = { ...FILE, totalBytes: undefined };
const NO_FILINGS = { endedFilings: undefined, allFilings: undefined };
const COUNTS = { skipped: 0, failed: 0, endedBytes: 15e6, allBytes: undefined };
const BATCH = { endedFiles: 3, allFiles: 11, ...NO_FILINGS, ...COUNTS };
const SIZED = { ...BATCH, allBytes: 80e6 };
const EXCEEDED = { ...BATCH, allBytes: 16e6 };
const FAILED = { ...SIZED, failed: 1, skipped: 2 };
const SKIPPED = { ...BATCH, skipped: 1 };
const ENDLESS = { ...BATCH, allFiles: undefined };
const UNREAD = { ...ENDLESS, endedFilings: 1, failed: 1 };
const UNLISTED = { ...UNREAD, endedFilings: 2, allFilings: 8 };
const COMPARED = { ...FILE, isCompared: true };

// The run has received 12 MB in 2.4 s.
test.each`
  state                        | file           | batch        | line
  ${'nothing yet'}             | ${undefined}   | ${undefined} | ${undefined}
  ${'one file'}                | ${FILE}        | ${undefined} | ${'a.htm  83%  5.0 MB of 6.0 MB  5.0 MB/s  1 s left'}
  ${'one without a length'}    | ${NO_LENGTH}   | ${undefined} | ${'a.htm  12 MB  5.0 MB/s'}
  ${'one without a response'}  | ${NO_RESPONSE} | ${undefined} | ${'a.htm  no response yet'}
  ${'files of known sizes'}    | ${FILE}        | ${SIZED}     | ${'3 of 11 files  25%  20 MB of 80 MB  5.0 MB/s  12 s left'}
  ${'more than the sizes'}     | ${FILE}        | ${EXCEEDED}  | ${'3 of 11 files  100%  16 MB of 16 MB  5.0 MB/s  0 s left'}
  ${'some failed'}             | ${FILE}        | ${FAILED}    | ${'3 of 11 files, 1 failed, 2 skipped  25%  20 MB of 80 MB  5.0 MB/s  12 s left'}
  ${'files of unknown sizes'}  | ${FILE}        | ${BATCH}     | ${'3 of 11 files  27%  12 MB  5.0 MB/s  7 s left'}
  ${'some are skipped'}        | ${FILE}        | ${SKIPPED}   | ${'3 of 11 files, 1 skipped  27%  12 MB  5.0 MB/s  10 s left'}
  ${'unknown number of files'} | ${FILE}        | ${ENDLESS}   | ${'3 files  12 MB  5.0 MB/s'}
  ${'input not read'}          | ${FILE}        | ${UNREAD}    | ${'3 files, 1 filing, 1 failed  12 MB  5.0 MB/s'}
  ${'listings missing'}        | ${FILE}        | ${UNLISTED}  | ${'3 files, 2 of 8 filings, 1 failed  25%  12 MB  5.0 MB/s  8 s left'}
  ${'one of many is compared'} | ${COMPARED}    | ${BATCH}     | ${'3 of 11 files, comparing 1  27%  12 MB  5.0 MB/s  7 s left'}
  ${'one file is compared'}    | ${COMPARED}    | ${undefined} | ${'comparing a.htm  83%  5.0 MB of 6.0 MB  5.0 MB/s  1 s left'}
`('the line of progress has what is known: $state', ({ file, batch, line }) => {
  const run: RunState = {
    runningFiles: new Set(file && [file]),
    bytesThisRun: 12e6,
    startedAt: 0,
    readBatch: () => batch,
  };
  const progress = describeProgress(run, 2400);
  expect(progress && [progress.label, ...progress.facts].join('  ')).toBe(line);
});

async function setUp(isTTY: boolean, more: Partial<ProgressSettings> = {}, parts: Partial<World> = {}) {
  // The width leaves room for the name beside any speed, because the speed of the test is unknown.
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 160, rows: 24 });
  const secrets = new Secrets();
  secrets.add('canary-key');
  const settings = { progress: 'auto', errorFormat: 'text', quiet: false, verbose: false, color: 'never' } as const;
  const world = worldOf({ stderr, secrets, env: { TERM: 'xterm' }, ...parts });
  let text = '';
  const output = () => {
    text += stderr.read() ?? '';
    return text;
  };
  return { output, progress: await createProgress({ ...settings, ...more }, world) };
}

const NEXT = 'retry 1 of 5 in 5 s';
const failure = new FilingsError('not_found', 'b.htm: 404 Not Found', {
  hint: `look at ${markForRedaction('canary-key')}`,
});

/** Reports a file that waits and ends, one that ends without a message, and one message of each other kind. */
function reportEverything(progress: Progress): void {
  const file = progress.addFile('a.htm');
  file.beginResponse(1000);
  file.advance(400);
  file.noteWait(`503 Service Unavailable; ${NEXT}`);
  file.advance(600);
  file.finish();
  progress.addFile('b.htm').finish();
  progress.note('note');
  progress.warn(`ex\x9b: ${markForRedaction('canary-key')}`);
  progress.trace(`> GET ${markForRedaction('/?apikey=canary-key\x1b')}`);
  progress.reportFailure(failure);
  progress.stop();
}

const FAILS = 'filings: b.htm: 404 Not Found\n  hint: look at [redacted]\n';
const NO_WAITS = `note\nfilings: warning: ex\\x9b: [redacted]\n> GET /?apikey=[redacted]\\x1b\n${FAILS}`;
const ALL = `a.htm: 503 Service Unavailable; retry 1 of 5 in 5 s\n${NO_WAITS}`;
test.each`
  where                                    | isTTY    | settings                    | TERM       | text
  ${'without a terminal'}                  | ${false} | ${{}}                       | ${'xterm'} | ${ALL}
  ${'with --progress bar and no terminal'} | ${false} | ${{ progress: 'bar' }}      | ${'xterm'} | ${ALL}
  ${'with --progress plain'}               | ${true}  | ${{ progress: 'plain' }}    | ${'xterm'} | ${ALL}
  ${'on a dumb terminal'}                  | ${true}  | ${{}}                       | ${'dumb'}  | ${ALL}
  ${'beside data on the terminal'}         | ${true}  | ${{ sharesTerminal: true }} | ${'xterm'} | ${ALL}
  ${'with --progress none'}                | ${true}  | ${{ progress: 'none' }}     | ${'xterm'} | ${NO_WAITS}
  ${'with --quiet'}                        | ${true}  | ${{ quiet: true }}          | ${'xterm'} | ${FAILS}
`('$where, messages are lines without secrets and control characters', async ({ isTTY, settings, TERM, text }) => {
  const { output, progress } = await setUp(isTTY, settings, { env: { TERM } });
  reportEverything(progress);
  expect(output()).toBe(text);
});

test('with --error-format json every line is JSON, and waits are not reported', async () => {
  const { output, progress } = await setUp(true, { errorFormat: 'json', progress: 'bar' });
  reportEverything(progress);
  const lines = output().trimEnd().split('\n');
  expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([['note'], ['warning'], ['trace'], ['error']]);
  expect(JSON.parse(lines[1] ?? '')).toEqual({ warning: { message: 'ex\x9b: [redacted]' } });
  expect(output()).not.toContain('\x9b');
  expect(output()).not.toMatch(/canary|retry 1/);
});

describe('a line of progress every 30 seconds', () => {
  async function onClock(isTTY: boolean, more: Partial<ProgressSettings> = {}) {
    const { pass, ...clock } = heldClock();
    return { ...(await setUp(isTTY, more, clock)), pass };
  }

  test('is printed for a single file until it ends', async () => {
    const { output, progress, pass } = await onClock(false);
    const file = progress.addFile('a.htm');
    await pass(30_000);
    file.beginResponse(3e6);
    file.advance(1e6);
    await pass(29_999);
    expect(output()).toBe('a.htm  no response yet\n');
    await pass(1);
    expect(output()).toMatch(/\na\.htm {2}33% {2}1\.0 MB of 3\.0 MB {2}17 kB\/s {2}2 min left\n$/);
    progress.stop();
    await pass(60_000);
    expect(output().split('\n')).toHaveLength(3);
  });

  test('is printed for a batch instead of its files', async () => {
    const { output, progress, pass } = await onClock(false);
    progress.showBatch(() => ({ ...BATCH, endedFiles: 1, allFiles: 3, skipped: 1, endedBytes: 1e6, allBytes: 6e6 }));
    const file = progress.addFile('a.htm');
    file.beginResponse(3e6);
    file.advance(2e6);
    await pass(30_000);
    expect(output()).toBe('1 of 3 files, 1 skipped  50%  3.0 MB of 6.0 MB  67 kB/s  45 s left\n');
  });

  test.each`
    more
    ${{ progress: 'none' }}
    ${{ quiet: true }}
    ${{ sharesTerminal: true }}
    ${{ errorFormat: 'json' }}
  `('is not printed with $more', async ({ more }) => {
    const { output, progress, pass } = await onClock(false, more);
    progress.addFile('a.htm');
    await pass(90_000);
    expect(output()).toBe('');
  });
});

test('on a terminal, progress stays below the messages and contains no secrets', async () => {
  const { output, progress } = await setUp(true);
  const waitForOutput = (text: string) => expect.poll(output).toContain(text);
  const file = progress.addFile(`a\x1b${markForRedaction('canary-key')}`);
  file.beginResponse(1000, 100);
  file.advance(150);
  await waitForOutput('250 B of 1.0 kB');
  expect(output()).toContain('a\\x1b[redacted]  [==        ]  25%  250 B');
  file.noteWait(`429: ${markForRedaction('canary-key')}; ${NEXT}`);
  await waitForOutput('429: [redacted]; retry 1 of 5 in 5 s');
  progress.note('a note');
  await waitForOutput('a note\n');
  progress.reportFailure(failure);
  progress.stop();
  expect(output()).toContain('filings: b.htm: 404 Not Found');
  expect(output()).not.toContain('canary');
  const end = output().length;
  progress.note('after');
  expect(output().slice(end)).toBe('after\n');
});
