import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { Secrets } from '../../src/secrets.ts';
import { fileLine, overallLine, type Reach, type RunningFile } from '../../src/terminal/lines.ts';
import { createProgress, type Progress, type ProgressSettings } from '../../src/terminal/progress.ts';
import { displayWidth } from '../../src/terminal/width.ts';
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

  it('never reaches the last column, however narrow the terminal or long the name', () => {
    for (let width = 4; width < 200; width++) {
      for (const name of ['a', 'primary.htm', '日本'.repeat(60), 'x'.repeat(190)]) {
        expect(displayWidth(lineOf({}, width, name))).toBeLessThan(width);
      }
    }
  });
});

describe('the line above the running files', () => {
  const reach: Reach = { files: 3, of: 11, failed: 0 };
  const lineOf = (more: Partial<Reach>, width: number) =>
    overallLine({ files: new Set(), bytes: 12e6, since: 0, reach: undefined }, { ...reach, ...more }, 2400, width);

  it.each<[more: Partial<Reach>, width: number, shown: string]>([
    [{}, 120, '3 of 11 files   12 MB  5.0 MB/s'],
    [{ failed: 2 }, 120, '3 of 11 files, 2 failed   12 MB  5.0 MB/s'],
    [{ files: 1, of: undefined }, 120, '1 file so far   12 MB  5.0 MB/s'],
    [{}, 30, '3 of 11 files   12 MB'],
    [{}, 10, '3 of 11 …'],
  ])('%j at %d columns: no field is cut', (more, width, shown) => {
    expect(lineOf(more, width)).toBe(shown);
  });
});

async function setUp(terminal: boolean, more: Partial<ProgressSettings> = {}, TERM = 'xterm') {
  // Wide enough for the name beside any speed: how fast it is here is not known.
  const stderr = Object.assign(new PassThrough(), { isTTY: terminal, columns: 160, rows: 24 });
  const secrets = new Secrets();
  secrets.add('canary-key');
  const settings = { progress: 'auto', errorFormat: 'text', quiet: false, verbose: false, color: 'never' } as const;
  const world = worldOf({ stderr, secrets, env: { TERM } });
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
