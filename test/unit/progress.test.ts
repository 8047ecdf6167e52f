import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { foreign, Secrets } from '../../src/secrets.ts';
import { createProgress, type Progress, type ProgressSettings } from '../../src/terminal/progress.ts';
import { type BatchProgress, progressLine, type Running, type RunningFile } from '../../src/terminal/progress-line.ts';
import type { World } from '../../src/world.ts';
import { heldClock } from '../held-clock.ts';
import { worldOf } from '../settings-world.ts';

const NEXT = 'retry 1 of 5 in 5 s';

describe('the line of progress', () => {
  const file: RunningFile = { name: 'a.htm', bytes: 5e6, total: 6e6 };
  const batch: BatchProgress = { files: 3, total: 11, skipped: 0, failed: 0, endedBytes: 15e6, allBytes: undefined };
  const SIZES = { allBytes: 80e6 };
  /** A run that has received 12 MB in 2.4 s, with 5 MB of an unfinished file. */
  const lineOf = (files: readonly Partial<RunningFile>[], more?: Partial<BatchProgress>) => {
    const running: Running = {
      files: new Set(files.map((one) => ({ ...file, ...one }))),
      bytes: 12e6,
      startedAt: 0,
      batch: more && (() => ({ ...batch, ...more })),
    };
    const line = progressLine(running, 2400);
    return line && [line.label, ...line.facts].join('  ');
  };

  test.each<{ state: string; files: readonly Partial<RunningFile>[]; more?: Partial<BatchProgress>; line?: string }>([
    { state: 'nothing yet', files: [] },
    { state: 'one file', files: [{}], line: 'a.htm  83%  5.0 MB of 6.0 MB  5.0 MB/s  1 s left' },
    { state: 'one file without a length', files: [{ total: undefined }], line: 'a.htm  12 MB  5.0 MB/s' },
    { state: 'one file without a response', files: [{ bytes: undefined }], line: 'a.htm  no response yet' },
    { state: 'sizes', files: [{}], more: SIZES, line: '3 of 11 files  25%  20 MB of 80 MB  5.0 MB/s  12 s left' },
    {
      state: 'failed and skipped files',
      files: [{}],
      more: { ...SIZES, failed: 1, skipped: 2 },
      line: '3 of 11 files, 1 failed, 2 skipped  25%  20 MB of 80 MB  5.0 MB/s  12 s left',
    },
    { state: 'no sizes', files: [{}], more: {}, line: '3 of 11 files  27%  12 MB  5.0 MB/s  7 s left' },
    {
      state: 'no sizes, and skipped files',
      files: [{}],
      more: { skipped: 1 },
      line: '3 of 11 files, 1 skipped  27%  12 MB  5.0 MB/s  10 s left',
    },
    {
      state: 'an unknown number of files',
      files: [{}],
      more: { total: undefined },
      line: '3 files so far  12 MB  5.0 MB/s',
    },
  ])('has bytes, speed and time left as far as they are known: $state', ({ files, more, line }) => {
    expect(lineOf(files, more)).toBe(line);
  });
});

async function setUp(
  terminal: boolean,
  more: Partial<ProgressSettings> = {},
  TERM = 'xterm',
  clock: Partial<Pick<World, 'monotonic' | 'sleep'>> = {},
) {
  // The width leaves room for the name beside any speed, because the speed of the test is unknown.
  const stderr = Object.assign(new PassThrough(), { isTTY: terminal, columns: 160, rows: 24 });
  const secrets = new Secrets();
  secrets.add('canary-key');
  const settings = { progress: 'auto', errorFormat: 'text', quiet: false, verbose: false, color: 'never' } as const;
  const world = worldOf({ stderr, secrets, env: { TERM }, ...clock });
  let text = '';
  const output = () => {
    text += stderr.read() ?? '';
    return text;
  };
  return { output, progress: await createProgress({ ...settings, ...more }, world) };
}

const failure = new FilingsError('not_found', 'b.htm: 404 Not Found', { hint: `look at ${foreign('canary-key')}` });

const WAITS = 'a.htm: 503 Service Unavailable; retry 1 of 5 in 5 s\n';
const [TRACE, NOTE] = ['> GET /?apikey=[redacted]\\x1b\n', 'note\n'];
const FAILS = 'filings: b.htm: 404 Not Found\n  hint: look at [redacted]\n';

test.each<{ where: string; isTerminal: boolean; settings?: Partial<ProgressSettings>; TERM?: string; text?: string }>([
  { where: 'without a terminal', isTerminal: false },
  { where: 'with --progress bar and no terminal', isTerminal: false, settings: { progress: 'bar' } },
  { where: 'with --progress plain', isTerminal: true, settings: { progress: 'plain' } },
  { where: 'on a dumb terminal', isTerminal: true, TERM: 'dumb' },
  { where: 'beside data on the terminal', isTerminal: true, settings: { isShared: true } },
  { where: 'with --progress none', isTerminal: true, settings: { progress: 'none' }, text: NOTE + TRACE + FAILS },
  { where: 'with --quiet', isTerminal: true, settings: { quiet: true }, text: FAILS },
])('$where, messages are lines without secrets and control characters', async (row) => {
  const { output, progress } = await setUp(row.isTerminal, row.settings, row.TERM);
  reportEverything(progress);
  expect(output()).toBe(row.text ?? WAITS + NOTE + TRACE + FAILS);
});

test('with --error-format json every line is JSON, and waits are not reported', async () => {
  const { output, progress } = await setUp(true, { errorFormat: 'json', progress: 'bar' });
  reportEverything(progress);
  const kinds = output()
    .trimEnd()
    .split('\n')
    .map((line) => Object.keys(JSON.parse(line)));
  expect(kinds).toEqual([['note'], ['trace'], ['error']]);
  expect(output()).not.toMatch(/canary|retry 1/);
});

describe('a line of progress every 30 seconds', () => {
  async function onClock(terminal: boolean, more: Partial<ProgressSettings> = {}) {
    const clock = heldClock();
    const { output, progress } = await setUp(terminal, more, 'xterm', clock);
    return { output, progress, pass: clock.pass };
  }

  test('is printed for a single file until it ends', async () => {
    const { output, progress, pass } = await onClock(false);
    const file = progress.start('a.htm');
    await pass(30_000);
    file.total(3e6);
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
    progress.overall(() => ({ files: 1, total: 3, skipped: 1, failed: 0, endedBytes: 1e6, allBytes: 6e6 }));
    const file = progress.start('a.htm');
    file.total(3e6);
    file.advance(2e6);
    await pass(30_000);
    expect(output()).toBe('1 of 3 files, 1 skipped  50%  3.0 MB of 6.0 MB  67 kB/s  45 s left\n');
  });

  test.each<[string, Partial<ProgressSettings>]>([
    ['--progress none', { progress: 'none' }],
    ['--quiet', { quiet: true }],
    ['data on the same terminal', { isShared: true }],
    ['--error-format json', { errorFormat: 'json' }],
  ])('is not printed with %s', async (_, more) => {
    const { output, progress, pass } = await onClock(false, more);
    progress.start('a.htm');
    await pass(90_000);
    expect(output()).toBe('');
  });
});

/** Reports a file that waits and ends, one that ends without a message, and one message of each other kind. */
function reportEverything(progress: Progress): void {
  const file = progress.start('a.htm');
  file.total(1000);
  file.advance(400);
  file.wait(`503 Service Unavailable; ${NEXT}`);
  file.advance(600);
  file.finish();
  progress.start('b.htm').finish();
  progress.note('note');
  progress.trace(`> GET ${foreign('/?apikey=canary-key\x1b')}`);
  progress.failure(failure);
  progress.stop();
}

test('on a terminal, progress stays below the messages and contains no secrets', async () => {
  const { output, progress } = await setUp(true);
  const waitForOutput = async (text: string) => {
    while (!output().includes(text)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const file = progress.start('a.htm');
  file.total(1000, 100);
  file.advance(150);
  await waitForOutput('250 B of 1.0 kB');
  expect(output()).toMatch(/a\.htm {2}\[== {8}\] {2}25% {2}250 B/);
  file.wait(`429: ${foreign('canary-key')}; ${NEXT}`);
  await waitForOutput('429: [redacted]; retry 1 of 5 in 5 s');
  progress.note('a note');
  await waitForOutput('a note\n');
  progress.failure(failure);
  progress.stop();
  expect(output()).toContain('filings: b.htm: 404 Not Found');
  expect(output()).not.toContain('canary');
  const end = output().length;
  progress.note('after');
  expect(output().slice(end)).toBe('after\n');
});
