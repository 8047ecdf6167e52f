import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { Secrets } from '../../src/secrets.ts';
import { type FileState, fileLine, type Overall, overallLine } from '../../src/terminal/progress/lines.ts';
import { createProgress, type Progress, type ProgressSettings } from '../../src/terminal/progress/progress.ts';
import { Speedometer } from '../../src/terminal/progress/running.ts';
import { displayWidth } from '../../src/terminal/width.ts';
import { worldOf } from '../settings-world.ts';

describe('the line of a file', () => {
  const state: FileState = { name: 'primary.htm', bytes: 45e6, total: 100e6, rate: 5e6, waiting: undefined };

  it.each<[what: string, state: Partial<FileState>, width: number, shown: string]>([
    [
      'everything',
      {},
      100,
      'primary.htm                [=========             ]   45%   45 MB of 100 MB  5.0 MB/s  11 s left',
    ],
    ['no amount', {}, 70, 'primary.htm          [=======         ]   45%  5.0 MB/s  11 s left'],
    ['no bar', {}, 50, 'primary.htm           45%  5.0 MB/s  11 s left'],
    ['no time', {}, 40, 'primary.htm               45%  5.0 MB/s'],
    ['the least', {}, 20, 'primary.htm     45%'],
    ['no length', { total: undefined }, 100, `primary.htm${' '.repeat(32)}45 MB  5.0 MB/s`],
    ['no length, narrow', { total: undefined }, 20, 'primary.htm   45 MB'],
    ['stalled', { rate: 0 }, 40, 'primary.htm               45%     0 B/s'],
    ['not quite done', { bytes: 99_999_999 }, 20, 'primary.htm     99%'],
    ['more than all', { bytes: 2e8 }, 20, 'primary.htm    100%'],
  ])('%s', (_what, more, width, shown) => {
    expect(fileLine({ ...state, ...more }, width)).toBe(shown);
  });

  it.each([
    [100, 'primary.htm  127.0.0.1:9: connection refused; trying again in 2 s, 1 of 5'],
    [70, 'primary.htm  127.0.0.1:9: connection refused'],
    [40, 'prim….htm  127.0.0.1:9: connection ref…'],
    [20, 'pri…tm  127.0.0.1:…'],
  ])('at %d columns a wait gives its room to the reason', (width, shown) => {
    const waiting = { reason: '127.0.0.1:9: connection refused', next: 'trying again in 2 s, 1 of 5' };
    expect(fileLine({ ...state, waiting }, width)).toBe(shown);
  });

  it('stands where it was when the speed is known', () => {
    for (let width = 20; width < 200; width++) {
      const before = fileLine({ ...state, rate: undefined }, width);
      expect(fileLine(state, width).startsWith(before), String(width)).toBe(true);
    }
  });

  it('grows its bar with the width', () => {
    const bars = [60, 100, 140, 200].map(
      (width) => fileLine(state, width).indexOf(']') - fileLine(state, width).indexOf('['),
    );
    expect(bars).toEqual([...bars].sort((a, b) => a - b));
    expect(new Set(bars).size).toBe(bars.length);
  });

  it('never reaches the last column, however narrow the terminal or long the name', () => {
    for (let width = 4; width < 200; width++) {
      for (const name of ['a', 'primary.htm', '日本'.repeat(60), 'x'.repeat(190)]) {
        expect(displayWidth(fileLine({ ...state, name }, width))).toBeLessThan(width);
      }
    }
  });
});

describe('the line above the running files', () => {
  const run: Overall = { files: 3, of: 11, failed: 0, bytes: 12e6, due: 28e6, rate: 5e6, ms: 6000 };

  it.each<[what: string, run: Partial<Overall>, shown: string]>([
    ['all is known', {}, '3 of 11 files    12 MB of 40 MB  5.0 MB/s  6 s left'],
    ['some failed', { failed: 2 }, '3 of 11 files, 2 failed    12 MB of 40 MB  5.0 MB/s  6 s left'],
    ['not all sizes', { due: undefined }, '3 of 11 files             12 MB  5.0 MB/s  about 16 s left'],
    ['nothing done', { files: 0, due: undefined }, '0 of 11 files             12 MB  5.0 MB/s'],
    ['no speed', { rate: undefined }, '3 of 11 files    12 MB of 40 MB'],
    ['an end nobody knows', { files: 1, of: undefined, due: undefined }, '1 file so far             12 MB  5.0 MB/s'],
  ])('%s', (_what, more, shown) => {
    expect(overallLine({ ...run, ...more }, 120)).toBe(shown);
  });

  it.each([
    [60, '3 of 11 files    12 MB of 40 MB  5.0 MB/s  6 s left'],
    [50, '3 of 11 files    12 MB of 40 MB  5.0 MB/s'],
    [40, '3 of 11 files    12 MB of 40 MB'],
    [20, '3 of 11 files'],
    [10, '3 of 11…'],
  ])('at %d columns no field is cut', (width, shown) => {
    expect(overallLine(run, width)).toBe(shown);
  });
});

describe('Speedometer', () => {
  it('waits for a first moment, then follows the last seconds', () => {
    const speed = new Speedometer(1000);
    speed.advance(5000, 1100);
    expect(speed.rate(1200)).toBeUndefined();
    expect(speed.rate(2000)).toBe(5000);
    for (let at = 2000; at <= 30_000; at += 100) speed.advance(100, at);
    expect(speed.rate(30_000)).toBeCloseTo(1000, -2);
    expect(speed.rate(130_000)).toBeLessThan(150);
  });
});

class Sink extends Writable {
  readonly isTTY: boolean;
  columns = 80;
  rows = 24;
  text = '';
  constructor(isTTY: boolean) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
  }
  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function setUp(terminal: boolean, more: Partial<ProgressSettings & { TERM: string }> = {}) {
  const stderr = new Sink(terminal);
  const secrets = new Secrets();
  secrets.add('canary-key');
  const interrupt = new AbortController();
  const settings = { progress: 'auto', errorFormat: 'text', quiet: false, verbose: false, color: 'never' } as const;
  const { TERM = 'xterm' } = more;
  const world = worldOf({ stderr, secrets, interrupt: interrupt.signal, env: { TERM } });
  const progress = await createProgress({ ...settings, ...more }, world);
  return { stream: stderr, progress, interrupt };
}

/** One file with a wait and an end. */
function aFile(progress: Progress): void {
  const file = progress.start({ name: 'a.htm', offset: 0 });
  file.total(1000);
  file.advance(400);
  file.wait({ reason: '503 Service Unavailable', next: 'trying again in 2 s, 1 of 5' });
  file.advance(600);
  file.finish('a.htm: 1.0 kB');
}

const failure = new FilingsError('not_found', 'b.htm: 404 Not Found', { hint: 'look at canary-key' });

describe('progress without a terminal', () => {
  it('is a line a finished file, and a line a wait as it begins', async () => {
    const { stream, progress } = await setUp(false);
    aFile(progress);
    progress.start({ name: 'b.htm', offset: 0 }).finish();
    progress.stop();
    expect(stream.text).toBe('a.htm: 503 Service Unavailable; trying again in 2 s, 1 of 5\na.htm: 1.0 kB\n');
  });

  it('tells the wire when verbose, free of secrets and control characters', async () => {
    const { stream, progress } = await setUp(false, { verbose: true });
    progress.trace('> GET /?apikey=canary-key\x1b');
    aFile(progress);
    expect(stream.text).toBe(
      '> GET /?apikey=[redacted]\\x1b\na.htm: 503 Service Unavailable; trying again in 2 s, 1 of 5\na.htm: 1.0 kB\n',
    );
  });

  it.each<[Partial<ProgressSettings>, string]>([
    [{ progress: 'none' }, 'note\nfilings: b.htm: 404 Not Found\n  hint: look at [redacted]\n'],
    [{ quiet: true }, 'filings: b.htm: 404 Not Found\n  hint: look at [redacted]\n'],
    [
      { progress: 'bar' },
      'a.htm: 503 Service Unavailable; trying again in 2 s, 1 of 5\na.htm: 1.0 kB\nnote\nfilings: b.htm: 404 Not Found\n  hint: look at [redacted]\n',
    ],
  ])('%j', async (more, text) => {
    const { stream, progress } = await setUp(false, more);
    aFile(progress);
    progress.note('note');
    progress.trace('trace');
    progress.failure(failure);
    progress.stop();
    expect(stream.text).toBe(text);
  });

  it('is JSON lines and nothing else when errors are, on a terminal too', async () => {
    const { stream, progress } = await setUp(true, { errorFormat: 'json', progress: 'bar', verbose: true });
    aFile(progress);
    progress.trace('t');
    progress.failure(failure);
    progress.stop();
    const lines = stream.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      { note: 'a.htm: 503 Service Unavailable; trying again in 2 s, 1 of 5' },
      { note: 'a.htm: 1.0 kB' },
      { trace: 't' },
      { error: { code: 'not_found', exit_code: 5, message: 'b.htm: 404 Not Found', hint: 'look at [redacted]' } },
    ]);
  });

  it('outlives a broken stderr', async () => {
    const { stream, progress } = await setUp(false);
    stream.destroy(new Error('EPIPE'));
    progress.note('x');
    progress.stop();
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('progress on a terminal', () => {
  /** Waits for the screen to say so. */
  async function shows(stream: Sink, text: string): Promise<void> {
    while (!stream.text.includes(text)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('moves a line, says the rest above it, and clears it in the end', async () => {
    const { stream, progress } = await setUp(true);
    // Wide enough for the name beside any speed: how fast it is here is not known.
    stream.columns = 160;
    const file = progress.start({ name: 'canary-key.htm', offset: 100 });
    file.total(1000);
    file.advance(150);
    await shows(stream, '250 B of 1.0 kB');
    expect(stream.text).toContain('[redacted].htm');
    expect(stream.text).toContain(' 25%');
    file.wait({ reason: '429: canary-key', next: 'wait 30 s' });
    await shows(stream, '429: [redacted]; wait 30 s');
    progress.note('a note');
    await shows(stream, '\r\x1b[Ja note\n');
    file.finish('done: 1.0 kB');
    progress.note('another');
    progress.stop();
    expect(stream.text).toContain('done: 1.0 kB');
    expect(stream.text).toContain('another');
    expect(stream.text).not.toContain('canary');
    expect(stream.text.lastIndexOf('[?25h')).toBeGreaterThan(stream.text.lastIndexOf('[?25l'));
    const end = stream.text.length;
    progress.note('after');
    expect(stream.text.slice(end)).toBe('after\n');
  });

  it('keeps what was said just before the end', async () => {
    const { stream, progress } = await setUp(true);
    progress.start({ name: 'a.htm', offset: 0 });
    await shows(stream, 'a.htm');
    progress.failure(failure);
    progress.stop();
    expect(stream.text).toContain('filings: b.htm: 404 Not Found');
  });

  it('follows a resize', async () => {
    const { stream, progress } = await setUp(true);
    progress.start({ name: 'x'.repeat(70), offset: 0 }).total(1000);
    await shows(stream, `\r${'x'.repeat(7)}…${'x'.repeat(7)}  [`);
    stream.columns = 30;
    stream.emit('resize');
    await shows(stream, `\r${'x'.repeat(6)}…${'x'.repeat(6)}  `);
    progress.stop();
  });

  it('has no more lines than the terminal', async () => {
    const { stream, progress } = await setUp(true);
    stream.rows = 4;
    for (let i = 0; i < 10; i++) progress.start({ name: `file-${i}.htm`, offset: 0 });
    await shows(stream, 'file-0');
    progress.stop();
    expect(new Set(stream.text.match(/file-\d/g))).toEqual(new Set(['file-0', 'file-1', 'file-2']));
  });

  it('draws nothing of what ends at once', async () => {
    const { stream, progress } = await setUp(true);
    progress.start({ name: 'a.htm', offset: 0 }).finish('a.htm: 1 B');
    progress.start({ name: 'b.htm', offset: 0 });
    progress.stop();
    // What begins later is on the screen: so would the earlier be.
    const later = await setUp(true);
    later.progress.start({ name: 'c.htm', offset: 0 });
    await shows(later.stream, 'c.htm');
    later.progress.stop();
    expect(stream.text).toContain('a.htm: 1 B\n');
    expect(stream.text.replace('a.htm: 1 B', '')).not.toMatch(/a\.htm|b\.htm/);
  });

  it('is plain when the terminal is dumb, or when told to', async () => {
    for (const more of [{ TERM: 'dumb' }, { progress: 'plain' }] as const) {
      const { stream, progress } = await setUp(true, more);
      aFile(progress);
      progress.stop();
      expect(stream.text).toBe('a.htm: 503 Service Unavailable; trying again in 2 s, 1 of 5\na.htm: 1.0 kB\n');
    }
  });
});
