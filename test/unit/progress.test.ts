import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { Secrets } from '../../src/secrets.ts';
import { hintOf } from '../../src/session/hints.ts';
import {
  type BatchProgress,
  fileLine,
  fileText,
  overallLine,
  overallText,
  type Running,
  type RunningFile,
} from '../../src/terminal/lines.ts';
import { createProgress, type Progress, type ProgressSettings } from '../../src/terminal/progress.ts';
import { displayWidth } from '../../src/terminal/width.ts';
import type { World } from '../../src/world.ts';
import { heldClock } from '../held-clock.ts';
import { worldOf } from '../settings-world.ts';

const WAIT = {
  reason: '127.0.0.1:9: connection refused',
  ms: 5000,
  next: (ms: number) => `retry 1 of 5 in ${Math.ceil(ms / 1000)} s`,
};

describe('the line of a file', () => {
  const file: RunningFile = { name: '', bytes: 45e6, total: 100e6, initialBytes: 0, startedAt: 0, waiting: undefined };
  /** The time at which the speed is 5 MB/s. */
  const NOW = 9000;
  const lineOf = (more: Partial<RunningFile>, width: number, name = 'primary.htm') =>
    fileLine({ ...file, ...more }, name, NOW, width);
  const waiting = (ms: number) => ({ waiting: WAIT, startedAt: NOW - ms });

  it.each<[what: string, more: Partial<RunningFile>, width: number, expected: string]>([
    ['all fields', {}, 100, `${'primary.htm'.padEnd(37)}  [====      ]   45%   45 MB of 100 MB  5.0 MB/s  11 s left`],
    ['too narrow for a bar', {}, 50, `${'primary.htm'.padEnd(19)}   45%  5.0 MB/s  11 s left`],
    ['too narrow for a speed', {}, 20, 'primary.htm     45%'],
    ['an unknown length', { total: undefined }, 100, `${'primary.htm'.padEnd(40)}   45 MB  5.0 MB/s`],
    ['almost complete', { bytes: 99_999_999 }, 20, 'primary.htm     99%'],
    ['resumed, too narrow for a bar', { initialBytes: 36e6 }, 40, `${'primary.htm'.padEnd(23)}   45%  1.0 MB/s`],
    ['no response yet', { bytes: undefined }, 40, 'primary.htm  …'],
    ['a wait', waiting(0), 100, 'primary.htm  retry 1 of 5 in 5 s: 127.0.0.1:9: connection refused'],
    ['a later wait', waiting(3001), 100, 'primary.htm  retry 1 of 5 in 2 s: 127.0.0.1:9: connection refused'],
    ['a narrow wait', waiting(4999), 40, 'primary.htm  retry 1 of 5 in 1 s: 127.…'],
  ])('shows the state of the file in the given width: %s', (_what, more, width, expected) => {
    expect(lineOf(more, width)).toBe(expected);
  });

  it.each<[more: Partial<RunningFile>, text: string]>([
    [{}, 'a.htm: 45 MB of 100 MB, 5.0 MB/s, 11 s left'],
    [{ total: undefined }, 'a.htm: 45 MB, 5.0 MB/s'],
    [{ bytes: undefined }, 'a.htm: no response yet'],
    [waiting(3001), 'a.htm: retry 1 of 5 in 2 s: 127.0.0.1:9: connection refused'],
  ])('is text without a terminal: %j', (more, text) => {
    expect(fileText({ ...file, name: 'a.htm', ...more }, NOW)).toBe(text);
  });

  it('never reaches the last column, whatever the width and the name', () => {
    for (let width = 4; width < 200; width++) {
      for (const name of ['a', 'primary.htm', '日本'.repeat(60), 'x'.repeat(190)]) {
        expect(displayWidth(lineOf({}, width, name))).toBeLessThan(width);
      }
    }
  });
});

describe('the line above the running files', () => {
  const batch: BatchProgress = { files: 3, total: 11, skipped: 0, failed: 0, endedBytes: 15e6, sizes: undefined };
  const file: RunningFile = { name: 'a', size: 6e6, bytes: 5e6, initialBytes: 0, startedAt: 0 };
  /** A run that has received 12 MB in 2.4 s, with 5 MB of an unfinished file. */
  const running: Running = { files: new Set([file]), bytes: 12e6, startedAt: 0, batch: undefined };
  const lineOf = (more: Partial<BatchProgress>, width: number) =>
    overallLine(running, { ...batch, ...more }, 2400, width);
  const SIZES = { sizes: { bytes: 80e6, unsized: 0 } };

  it.each<[more: Partial<BatchProgress>, width: number, expected: string]>([
    [{}, 120, '3 of 11 files   12 MB  5.0 MB/s'],
    [{ skipped: 2 }, 120, '3 of 11 files   12 MB  5.0 MB/s'],
    [SIZES, 200, '3 of 11 files   20 MB of 80 MB  5.0 MB/s  12 s left'],
    [SIZES, 52, '3 of 11 files   20 MB of 80 MB  5.0 MB/s  12 s left'],
    [SIZES, 51, '3 of 11 files   20 MB of 80 MB  12 s left'],
    [SIZES, 40, '3 of 11 files   20 MB of 80 MB'],
    [SIZES, 30, '3 of 11 files'],
    [{ ...SIZES, failed: 1 }, 80, '3 of 11 files, 1 failed   20 MB of 80 MB  5.0 MB/s  12 s left'],
    [{ ...SIZES, endedBytes: 79e6 }, 80, '3 of 11 files   80 MB of 80 MB  5.0 MB/s  0 s left'],
    [{ failed: 2 }, 120, '3 of 11 files, 2 failed   12 MB  5.0 MB/s'],
    [{ files: 1, total: undefined }, 120, '1 file so far   12 MB  5.0 MB/s'],
    [{ files: 1200, total: undefined }, 120, '1,200 files so far   12 MB  5.0 MB/s'],
    [{}, 30, '3 of 11 files   12 MB'],
    [{}, 10, '3 of 11 …'],
  ])('omits fields that do not fit: %j at %d columns', (more, width, expected) => {
    expect(lineOf(more, width)).toBe(expected);
  });

  it.each<[what: string, total: number | undefined, unsized: number, expected: string]>([
    ['its response has a length', 6e6, 1, '3 of 11 files   20 MB of 80 MB  5.0 MB/s  12 s left'],
    ['its response has no length', undefined, 1, '3 of 11 files   12 MB  5.0 MB/s'],
    ['its response has a length, and another unsized file has not begun', 6e6, 2, '3 of 11 files   12 MB  5.0 MB/s'],
  ])('shows the total only if the size of each running file is known: %s', (_, total, unsized, expected) => {
    const files = new Set([{ ...file, size: undefined, total }]);
    const sizes = { bytes: 74e6, unsized };
    expect(overallLine({ ...running, files }, { ...batch, sizes }, 2400, 120)).toBe(expected);
  });

  it.each<[more: Partial<BatchProgress>, text: string]>([
    [{}, '3 of 11 files, 12 MB, 5.0 MB/s'],
    [{ ...SIZES, skipped: 1, failed: 2 }, '3 of 11 files, 1 skipped, 2 failed, 20 MB of 80 MB, 5.0 MB/s, 12 s left'],
    [{ total: undefined }, '3 files so far, 12 MB, 5.0 MB/s'],
  ])('is text without a terminal: %j', (more, text) => {
    expect(overallText(running, { ...batch, ...more }, 2400)).toBe(text);
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
  const settings = {
    progress: 'auto',
    errorFormat: 'text',
    quiet: false,
    verbose: false,
    color: 'never',
    hintOf,
  } as const;
  const world = worldOf({ stderr, secrets, env: { TERM }, ...clock });
  let text = '';
  const output = () => {
    text += stderr.read() ?? '';
    return text;
  };
  return { output, progress: await createProgress({ ...settings, ...more }, world) };
}

const failure = new FilingsError('not_found', 'b.htm: 404 Not Found', { hint: 'look at canary-key' });

const [WAITS, ENDS] = ['a.htm: 503 Service Unavailable; retry 1 of 5 in 5 s\n', 'a.htm: 1.0 kB\n'];
const [TRACE, NOTE] = ['> GET /?apikey=[redacted]\\x1b\n', 'note\n'];
const FAILS = 'filings: b.htm: 404 Not Found\n  hint: look at [redacted]\n';

const jsonLine = (object: object) => `${JSON.stringify(object)}\n`;
const JSON_LINES = [
  ...[{ note: WAITS.trimEnd() }, { note: ENDS.trimEnd() }, { note: 'note' }],
  { trace: '> GET /?apikey=[redacted]\x1b' },
  { error: { code: 'not_found', exit_code: 5, message: 'b.htm: 404 Not Found', hint: 'look at [redacted]' } },
];

it.each<[how: string, terminal: boolean, settings: Partial<ProgressSettings>, text: string, term?: string]>([
  ['no terminal', false, {}, WAITS + ENDS + NOTE + TRACE + FAILS],
  ['no terminal, --progress bar', false, { progress: 'bar' }, WAITS + ENDS + NOTE + TRACE + FAILS],
  ['a terminal, --progress plain', true, { progress: 'plain' }, WAITS + ENDS + NOTE + TRACE + FAILS],
  ['a dumb terminal', true, {}, WAITS + ENDS + NOTE + TRACE + FAILS, 'dumb'],
  ['--progress none', true, { progress: 'none' }, NOTE + TRACE + FAILS],
  ['--quiet', true, { quiet: true }, FAILS],
  ['JSON errors', true, { errorFormat: 'json', progress: 'bar', verbose: true }, JSON_LINES.map(jsonLine).join('')],
])(
  'progress without bars is lines without secrets and control characters: %s',
  async (_, terminal, more, text, term) => {
    const { output, progress } = await setUp(terminal, more, term);
    reportEverything(progress);
    expect(output()).toBe(text);
  },
);

describe('a line of progress every 30 seconds', () => {
  async function onClock(terminal: boolean, more: Partial<ProgressSettings> = {}) {
    const clock = heldClock();
    const { output, progress } = await setUp(terminal, more, 'xterm', clock);
    return { output, progress, pass: clock.pass };
  }

  it('is printed for a single file until it ends', async () => {
    const { output, progress, pass } = await onClock(false);
    const file = progress.start('canary-key.htm');
    await pass(30_000);
    file.total(3e6);
    file.advance(1e6);
    await pass(29_999);
    expect(output()).toBe('[redacted].htm: no response yet\n');
    await pass(1);
    expect(output()).toMatch(/\n\[redacted\]\.htm: 1\.0 MB of 3\.0 MB, 33 kB\/s, 60 s left\n$/);
    progress.stop();
    await pass(60_000);
    expect(output().split('\n')).toHaveLength(3);
  });

  it('is printed for a batch instead of its files', async () => {
    const { output, progress, pass } = await onClock(false);
    progress.overall(() => ({
      files: 1,
      total: 3,
      skipped: 1,
      failed: 0,
      endedBytes: 1e6,
      sizes: { bytes: 3e6, unsized: 1 },
    }));
    const file = progress.start('a.htm');
    file.total(3e6);
    file.advance(2e6);
    await pass(30_000);
    expect(output()).toBe('1 of 3 files, 1 skipped, 3.0 MB of 6.0 MB, 67 kB/s, 45 s left\n');
  });

  it('is JSON with --error-format json', async () => {
    const { output, progress, pass } = await onClock(true, { errorFormat: 'json' });
    progress.start('a.htm');
    await pass(30_000);
    expect(output()).toBe('{"note":"a.htm: no response yet"}\n');
  });

  it.each<[string, Partial<ProgressSettings>]>([
    ['--progress none', { progress: 'none' }],
    ['--quiet', { quiet: true }],
    ['data on the same terminal', { isShared: true }],
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
  file.wait({ ...WAIT, reason: '503 Service Unavailable' });
  file.advance(600);
  file.finish('a.htm: 1.0 kB');
  progress.start('b.htm').finish();
  progress.note('note');
  progress.trace('> GET /?apikey=canary-key\x1b');
  progress.failure(failure);
  progress.stop();
}

it('on a terminal, progress stays below the messages and contains no secrets', async () => {
  const { output, progress } = await setUp(true);
  const waitForOutput = async (text: string) => {
    while (!output().includes(text)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const file = progress.start('canary-key.htm');
  file.total(1000, 100);
  file.advance(150);
  await waitForOutput('250 B of 1.0 kB');
  expect(output()).toMatch(/\[redacted\]\.htm .* 25% /);
  file.wait({ ...WAIT, reason: '429: canary-key' });
  await waitForOutput('retry 1 of 5 in 5 s: 429: [redacted]');
  progress.note('a note');
  await waitForOutput('\x1b[J\x1b[?7ha note\n');
  progress.failure(failure);
  progress.stop();
  expect(output()).toContain('filings: b.htm: 404 Not Found');
  expect(output()).not.toContain('canary');
  const end = output().length;
  progress.note('after');
  expect(output().slice(end)).toBe('after\n');
});

it('a terminal and Ctrl-Z are forgotten when nothing moves any more', async () => {
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  let suspends = 0;
  const onSuspend = () => {
    suspends += 1;
    return () => {
      suspends -= 1;
    };
  };
  const settings = { progress: 'bar', errorFormat: 'text', quiet: false, verbose: false, color: 'never' } as const;
  const progress = await createProgress({ ...settings, isShared: false, hintOf }, worldOf({ stderr, onSuspend }));
  expect([suspends, stderr.listenerCount('resize')]).toEqual([1, 1]);
  progress.stop();
  expect([suspends, stderr.listenerCount('resize')]).toEqual([0, 0]);
});
