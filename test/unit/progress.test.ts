import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { Secrets } from '../../src/secrets.ts';
import {
  fileLine,
  fileText,
  overallLine,
  overallText,
  type Reach,
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
  const file: RunningFile = { name: '', bytes: 45e6, total: 100e6, from: 0, since: 0, waiting: undefined };
  /** So that the speed is 5 MB/s. */
  const NOW = 9000;
  const lineOf = (more: Partial<RunningFile>, width: number, name = 'primary.htm') =>
    fileLine({ ...file, ...more }, name, NOW, width);
  const waiting = (ms: number) => ({ waiting: WAIT, since: NOW - ms });

  it.each<[what: string, more: Partial<RunningFile>, width: number, shown: string]>([
    ['everything', {}, 100, `${'primary.htm'.padEnd(37)}  [====      ]   45%   45 MB of 100 MB  5.0 MB/s  11 s left`],
    ['no bar', {}, 50, `${'primary.htm'.padEnd(19)}   45%  5.0 MB/s  11 s left`],
    ['the least', {}, 20, 'primary.htm     45%'],
    ['no length', { total: undefined }, 100, `${'primary.htm'.padEnd(40)}   45 MB  5.0 MB/s`],
    ['not quite done', { bytes: 99_999_999 }, 20, 'primary.htm     99%'],
    ['resumed', { from: 36e6 }, 40, `${'primary.htm'.padEnd(23)}   45%  1.0 MB/s`],
    ['no answer yet', { bytes: undefined }, 40, 'primary.htm  …'],
    ['a wait', waiting(0), 100, 'primary.htm  retry 1 of 5 in 5 s: 127.0.0.1:9: connection refused'],
    ['counted down', waiting(3001), 100, 'primary.htm  retry 1 of 5 in 2 s: 127.0.0.1:9: connection refused'],
    ['in few columns', waiting(4999), 40, 'primary.htm  retry 1 of 5 in 1 s: 127.…'],
  ])('%s', (_what, more, width, shown) => {
    expect(lineOf(more, width)).toBe(shown);
  });

  it.each<[more: Partial<RunningFile>, text: string]>([
    [{}, 'a.htm: 45 MB of 100 MB, 5.0 MB/s, 11 s left'],
    [{ total: undefined }, 'a.htm: 45 MB, 5.0 MB/s'],
    [{ bytes: undefined }, 'a.htm: no response yet'],
    [waiting(3001), 'a.htm: retry 1 of 5 in 2 s: 127.0.0.1:9: connection refused'],
  ])('%j as text', (more, text) => {
    expect(fileText({ ...file, name: 'a.htm', ...more }, NOW)).toBe(text);
  });

  it('never reaches the last column, however narrow the terminal or long the name', () => {
    for (let width = 4; width < 200; width++) {
      for (const name of ['a', 'primary.htm', '日本'.repeat(60), 'x'.repeat(190)]) {
        expect(displayWidth(lineOf({}, width, name))).toBeLessThan(width);
      }
    }
  });
});

describe('the line above the running files', () => {
  const reach: Reach = { files: 3, of: 11, skipped: 0, failed: 0, endedBytes: 15e6, sizes: undefined };
  const file: RunningFile = { name: 'a', size: 6e6, bytes: 5e6, from: 0, since: 0 };
  /** A run that has received 12 MB in 2.4 s, and that holds 5 MB of a file that has not ended. */
  const running: Running = { files: new Set([file]), bytes: 12e6, since: 0, reach: undefined };
  const lineOf = (more: Partial<Reach>, width: number) => overallLine(running, { ...reach, ...more }, 2400, width);
  const SIZES = { sizes: { bytes: 80e6, unsized: 0 } };

  it.each<[more: Partial<Reach>, width: number, shown: string]>([
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
    [{ files: 1, of: undefined }, 120, '1 file so far   12 MB  5.0 MB/s'],
    [{ files: 1200, of: undefined }, 120, '1,200 files so far   12 MB  5.0 MB/s'],
    [{}, 30, '3 of 11 files   12 MB'],
    [{}, 10, '3 of 11 …'],
  ])('%j at %d columns: no field is cut', (more, width, shown) => {
    expect(lineOf(more, width)).toBe(shown);
  });

  it.each<[what: string, total: number | undefined, unsized: number, shown: string]>([
    ['the response tells', 6e6, 1, '3 of 11 files   20 MB of 80 MB  5.0 MB/s  12 s left'],
    ['no response tells', undefined, 1, '3 of 11 files   12 MB  5.0 MB/s'],
    ['the response tells, but another file has not begun', 6e6, 2, '3 of 11 files   12 MB  5.0 MB/s'],
  ])('of a running file without a listed size: %s', (_, total, unsized, shown) => {
    const files = new Set([{ ...file, size: undefined, total }]);
    const sizes = { bytes: 74e6, unsized };
    expect(overallLine({ ...running, files }, { ...reach, sizes }, 2400, 120)).toBe(shown);
  });

  it.each<[more: Partial<Reach>, text: string]>([
    [{}, '3 of 11 files, 12 MB, 5.0 MB/s'],
    [{ ...SIZES, skipped: 1, failed: 2 }, '3 of 11 files, 1 skipped, 2 failed, 20 MB of 80 MB, 5.0 MB/s, 12 s left'],
    [{ of: undefined }, '3 files so far, 12 MB, 5.0 MB/s'],
  ])('%j as text', (more, text) => {
    expect(overallText(running, { ...reach, ...more }, 2400)).toBe(text);
  });
});

async function setUp(
  terminal: boolean,
  more: Partial<ProgressSettings> = {},
  TERM = 'xterm',
  clock: Partial<Pick<World, 'monotonic' | 'sleep'>> = {},
) {
  // Wide enough for the name beside any speed: how fast it is here is not known.
  const stderr = Object.assign(new PassThrough(), { isTTY: terminal, columns: 160, rows: 24 });
  const secrets = new Secrets();
  secrets.add('canary-key');
  const settings = { progress: 'auto', errorFormat: 'text', quiet: false, verbose: false, color: 'never' } as const;
  const world = worldOf({ stderr, secrets, env: { TERM }, ...clock });
  let text = '';
  const shown = () => {
    text += stderr.read() ?? '';
    return text;
  };
  return { shown, progress: await createProgress({ ...settings, ...more }, world) };
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
  ['no terminal, a bar', false, { progress: 'bar' }, WAITS + ENDS + NOTE + TRACE + FAILS],
  ['a terminal, plain', true, { progress: 'plain' }, WAITS + ENDS + NOTE + TRACE + FAILS],
  ['a dumb terminal', true, {}, WAITS + ENDS + NOTE + TRACE + FAILS, 'dumb'],
  ['none', true, { progress: 'none' }, NOTE + TRACE + FAILS],
  ['quiet', true, { quiet: true }, FAILS],
  ['errors in JSON', true, { errorFormat: 'json', progress: 'bar', verbose: true }, JSON_LINES.map(jsonLine).join('')],
])(
  'progress without bars, %s: lines, free of secrets and control characters',
  async (_, terminal, more, text, term) => {
    const { shown, progress } = await setUp(terminal, more, term);
    said(progress);
    expect(shown()).toBe(text);
  },
);

describe('a line of progress every 30 seconds', () => {
  async function onClock(terminal: boolean, more: Partial<ProgressSettings> = {}) {
    const clock = heldClock();
    const { shown, progress } = await setUp(terminal, more, 'xterm', clock);
    return { shown, progress, pass: clock.pass };
  }

  it('of a single file, until the end', async () => {
    const { shown, progress, pass } = await onClock(false);
    const file = progress.start('canary-key.htm');
    await pass(30_000);
    file.total(3e6);
    file.advance(1e6);
    await pass(29_999);
    expect(shown()).toBe('[redacted].htm: no response yet\n');
    await pass(1);
    expect(shown()).toMatch(/\n\[redacted\]\.htm: 1\.0 MB of 3\.0 MB, 33 kB\/s, 60 s left\n$/);
    progress.stop();
    await pass(60_000);
    expect(shown().split('\n')).toHaveLength(3);
  });

  it('of a batch in the place of its files', async () => {
    const { shown, progress, pass } = await onClock(false);
    progress.overall(() => ({
      files: 1,
      of: 3,
      skipped: 1,
      failed: 0,
      endedBytes: 1e6,
      sizes: { bytes: 3e6, unsized: 1 },
    }));
    const file = progress.start('a.htm');
    file.total(3e6);
    file.advance(2e6);
    await pass(30_000);
    expect(shown()).toBe('1 of 3 files, 1 skipped, 3.0 MB of 6.0 MB, 67 kB/s, 45 s left\n');
  });

  it('as JSON with --error-format json', async () => {
    const { shown, progress, pass } = await onClock(true, { errorFormat: 'json' });
    progress.start('a.htm');
    await pass(30_000);
    expect(shown()).toBe('{"note":"a.htm: no response yet"}\n');
  });

  it.each<[string, Partial<ProgressSettings>]>([
    ['--progress none', { progress: 'none' }],
    ['--quiet', { quiet: true }],
    ['data on the same terminal', { isShared: true }],
  ])('but not with %s', async (_, more) => {
    const { shown, progress, pass } = await onClock(false, more);
    progress.start('a.htm');
    await pass(90_000);
    expect(shown()).toBe('');
  });
});

/** A file with a wait and an end, one that ends without a word, and what is said besides. */
function said(progress: Progress): void {
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

it('on a terminal it moves a line, says the rest above it, and is free of secrets', async () => {
  const { shown, progress } = await setUp(true);
  const shows = async (text: string) => {
    while (!shown().includes(text)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const file = progress.start('canary-key.htm');
  file.total(1000, 100);
  file.advance(150);
  await shows('250 B of 1.0 kB');
  expect(shown()).toMatch(/\[redacted\]\.htm .* 25% /);
  file.wait({ ...WAIT, reason: '429: canary-key' });
  await shows('retry 1 of 5 in 5 s: 429: [redacted]');
  progress.note('a note');
  await shows('\x1b[J\x1b[?7ha note\n');
  progress.failure(failure);
  progress.stop();
  expect(shown()).toContain('filings: b.htm: 404 Not Found');
  expect(shown()).not.toContain('canary');
  const end = shown().length;
  progress.note('after');
  expect(shown().slice(end)).toBe('after\n');
});
