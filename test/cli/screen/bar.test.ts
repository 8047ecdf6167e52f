import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../settings-world.ts';
import { ACCESSION } from '../program.ts';
import { startClock } from './clock.ts';
import { startHeld } from './held.ts';
import { screen } from './screen.ts';

const isBar = (line: string) => line.includes('66%');
const some = (holds: (line: string) => boolean) => (lines: readonly string[]) => lines.some(holds);
const hasSpeed = (line: string) => isBar(line) && line.includes('B/s');

test('nothing of the bar moves aside when the speed is known; in the end it is a line', async () => {
  const service = await startHeld();
  // Or the speed might be known before anybody has looked.
  const clock = await startClock();
  const at = await screen([], {
    script: `exec filings download ${ACCESSION} a.htm`,
    env: { ...service.env, ...clock.env },
  });
  const [before = ''] = await at.shows(some((line) => isBar(line) && !line.includes('B/s')));
  await clock.goTo(1);
  const [with_ = ''] = await at.shows(some(hasSpeed));
  expect(with_.slice(0, before.length)).toBe(before);
  expect(before).toMatch(/^a\.htm +\[=+ +\] +66% +2\.0 MB of 3\.0 MB$/);
  expect(at.lines()).toHaveLength(1);
  expect(at.cursor()).toBe(0);
  service.release('a.htm');
  expect(await at.ended).toBe(0);
  expect(at.lines()).toEqual(['a.htm: 3.0 MB']);
});

test.each([
  [20, /^a\.htm +66%$/],
  [40, /^a\.htm +66% +\d[\d.]* \w?B\/s$/],
  [60, /^a\.htm +\[=+ +\] +66% +\d[\d.]* \w?B\/s +\d+ \w+ left$/],
  [80, /^a\.htm +\[=+ +\] +66% +2\.0 MB of 3\.0 MB +\d[\d.]* \w?B\/s +\d+ \w+ left$/],
])('at %d columns fields are dropped, and none is cut', async (columns, shown) => {
  const service = await startHeld();
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env, size: { columns, rows: 10 } });
  await at.shows(some((line) => shown.test(line)));
  expect(at.lines()).toHaveLength(1);
});

test('a resize to 20 columns in the middle leaves nothing behind', async () => {
  const service = await startHeld(['a.htm', 'b.htm', 'c.htm']);
  const at = await screen(['download', ACCESSION, '--all'], { env: service.env });
  await at.shows((lines) => lines.filter(hasSpeed).length === 3);
  at.resize({ columns: 20, rows: 10 });
  const narrow = await at.shows((lines) => lines.filter((line) => /^\w\.htm +66%$/.test(line)).length === 3);
  expect(narrow).toEqual(['0 of 3 files', ...['a', 'b', 'c'].map((name) => `${name}.htm           66%`)]);
  at.resize({ columns: 100, rows: 10 });
  await at.shows((lines) => lines.filter(hasSpeed).length === 3);
  expect(at.lines()).toHaveLength(4);
  for (const name of ['a', 'b', 'c']) service.release(`${name}.htm`);
  expect(await at.ended).toBe(0);
  expect(at.lines().slice(0, 3).sort()).toEqual(['a', 'b', 'c'].map((name) => `${ACCESSION}/${name}.htm: 3.0 MB`));
  expect(at.lines().slice(3)).toEqual([expect.stringMatching(/^3 downloaded \(9\.0 MB\); 4 requests, /)]);
});

test('Ctrl-Z clears the bar and shows the cursor; the bar comes back with the program', async () => {
  const service = await startHeld();
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env });
  await at.shows(some(hasSpeed));
  at.type('\x1a');
  await at.shows((lines) => !lines.some(isBar));
  expect(at.bytes().lastIndexOf('\x1b[?25h')).toBeGreaterThan(at.bytes().lastIndexOf('\x1b[?25l'));
  const stopped = at.bytes().length;
  // Longer than a frame takes.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(at.bytes().slice(stopped)).toBe('');
  process.kill(at.pid, 'SIGCONT');
  await at.shows(some(isBar));
  service.release('a.htm');
  expect(await at.ended).toBe(0);
  expect(at.lines()).toEqual([expect.stringMatching(/^(\^Z)?a\.htm: 3\.0 MB$/)]);
});

test('a defect clears the bar and shows the cursor', async () => {
  const service = await startHeld();
  const breaking = await temporaryFolder();
  onTestFinished(breaking.remove);
  const hook = await breaking.file('hook.cjs', `process.on('SIGUSR2', () => { throw new TypeError('broken'); });`);
  const env = { ...service.env, NODE_OPTIONS: `--require ${hook}` };
  const at = await screen(['download', ACCESSION, 'a.htm'], { env });
  await at.shows(some(isBar));
  process.kill(at.pid, 'SIGUSR2');
  expect(await at.ended).toBe(1);
  expect(at.lines()).toEqual([expect.stringMatching(/^filings: a defect .*broken$/), expect.stringMatching(/hint:/)]);
  expect(at.bytes().lastIndexOf('\x1b[?25h')).toBeGreaterThan(at.bytes().lastIndexOf('\x1b[?25l'));
});

// Joined emoji, a flag, ideographs, half-width kana, a letter with a mark of its own.
test.each(['日本語の年次報告書.htm', '👩‍👩‍👧‍👦👩‍👩‍👧‍👦🇩🇪🇩🇪🇩🇪🇩🇪🇩🇪.htm', 'ﾊﾝｶｸ-report.htm', 'u\u0308bersicht.htm'])(
  'a wide name, %s, takes one line and no column twice',
  async (name) => {
    const service = await startHeld();
    const size = { columns: 30, rows: 10 };
    const at = await screen(['download', ACCESSION, name, '-o', 'x'], { env: service.env, size });
    const lines = await at.shows(some((line) => / 66% +[\d.]+ \w?B\/s$/.test(line)));
    expect(lines).toHaveLength(1);
    service.release(name);
    expect(await at.ended).toBe(0);
    expect(at.lines()).toEqual(['x: 3.0 MB']);
  },
);
