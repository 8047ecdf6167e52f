import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../settings-world.ts';
import { allow, holdFlushes } from '../held-flushes.ts';
import { ACCESSION } from '../program.ts';
import { startPaused } from './held.ts';
import { type Screen, screen } from './screen.ts';

const isBar = (line: string) => line.includes('66%');
const hasSpeed = (line: string) => isBar(line) && line.includes('B/s');
const bars = (lines: readonly string[]) => lines.filter(isBar).length;
const cursorIsShown = (at: Screen) =>
  expect(at.bytes().lastIndexOf('\x1b[?25h')).toBeGreaterThan(at.bytes().lastIndexOf('\x1b[?25l'));

test('a resize leaves no traces of the bars, and lines replace them at the end', async () => {
  const service = await startPaused(['a.htm', 'b.htm', 'c.htm']);
  const at = await screen(['download', ACCESSION, '--all'], { env: service.env });
  await at.shows((lines) => lines.filter(hasSpeed).length === 3);
  expect(at.lines()[1]).toMatch(/^\w\.htm +\[=+ +\] +66% +2\.0 MB of 3\.0 MB +\d[\d.]* \w?B\/s +\d+ \w+ left$/);
  expect(at.cursor()).toBe(0);
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
  cursorIsShown(at);
});

test('Ctrl-Z clears the bar and shows the cursor, and SIGCONT draws the bar again', async () => {
  const service = await startPaused();
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env });
  await at.shows((lines) => lines.some(hasSpeed));
  at.type('\x1a');
  await at.shows((lines) => !lines.some(isBar));
  cursorIsShown(at);
  const stopped = at.bytes().length;
  // Longer than the time between two frames.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(at.bytes().slice(stopped)).toBe('');
  process.kill(at.pid, 'SIGCONT');
  await at.shows((lines) => lines.some(isBar));
  service.release('a.htm');
  expect(await at.ended).toBe(0);
  expect(at.lines()).toEqual([expect.stringMatching(/^(\^Z)?a\.htm: 3\.0 MB$/)]);
});

test('an unexpected error clears the bar and shows the cursor', async () => {
  const service = await startPaused();
  const breaking = await temporaryFolder();
  onTestFinished(breaking.remove);
  const hook = await breaking.file('hook.cjs', `process.on('SIGUSR2', () => { throw new TypeError('broken'); });`);
  const env = { ...service.env, NODE_OPTIONS: `--require ${hook}` };
  const at = await screen(['download', ACCESSION, 'a.htm'], { env });
  await at.shows((lines) => lines.some(isBar));
  process.kill(at.pid, 'SIGUSR2');
  expect(await at.ended).toBe(1);
  expect(at.lines()).toEqual([expect.stringMatching(/^filings: a defect .*broken$/), expect.stringMatching(/hint:/)]);
  cursorIsShown(at);
});

test('a total line is above the bars, and together they fit on a low terminal', async () => {
  const names = Array.from({ length: 11 }, (_, index) => `f${index}.htm`);
  const service = await startPaused(names);
  const size = { columns: 90, rows: 5 };
  const at = await screen(['download', ACCESSION, '--all', '-j', '9'], { env: service.env, size });
  const lines = await at.shows(
    (now) => bars(now) === 3 && /^0 of 11 files +18 MB of 33 MB +[\d.]+ \w?B\/s +\d+ \w+ left$/.test(now[0] ?? ''),
  );
  expect(lines).toHaveLength(4);
  for (const name of names.slice(0, 3)) service.release(name);
  await at.shows((now) => now.some((line) => /^3 of 11 files +25 MB of 33 MB/.test(line)));
  expect(at.lines().slice(0, 3).sort()).toEqual([0, 1, 2].map((index) => `${ACCESSION}/f${index}.htm: 3.0 MB`));
});

test('a file that waits for its flush has no bar once another file has its job', async () => {
  const names = ['a.htm', 'b.htm', 'c.htm'];
  const service = await startPaused(names);
  const at = await screen(['download', ACCESSION, ...names, '-j', '2'], {
    env: { ...service.env, NODE_OPTIONS: '--require ../held-flushes.cjs' },
    prepare: async (path) => void (await holdFlushes(path)),
  });
  await at.shows((lines) => bars(lines) === 2);
  service.release('a.htm');
  const lines = await at.shows((now) => now.some((line) => isBar(line) && line.startsWith('c.htm')));
  expect(lines.slice(1).map((line) => line.slice(0, 5))).toEqual(['b.htm', 'c.htm']);
  for (const name of names.slice(1)) service.release(name);
  await allow(at.path, 'go');
  expect(await at.ended).toBe(0);
});

const SIX = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.htm`);

test.each<[columns: number, line: RegExp]>([
  [40, /^0 of 6 files +4\.0 MB of 18 MB( {2}\d s left)?$/],
  [80, /^0 of 6 files +4\.0 MB of 18 MB +[\d.]+ \w?B\/s {2}\d+ \w+ left$/],
  [200, /^0 of 6 files +4\.0 MB of 18 MB +[\d.]+ \w?B\/s {2}\d+ \w+ left$/],
])('at %i columns a batch shows files and bytes of the total, and the time left', async (columns, line) => {
  const service = await startPaused(SIX);
  const size = { columns, rows: 24 };
  const at = await screen(['download', ACCESSION, '--all', '-j', '2'], { env: service.env, size });
  const rows = await at.shows(([first = '', ...files]) => line.test(first) && files.filter(hasSpeed).length === 2);
  expect(rows).toHaveLength(3);
  expect(Math.max(...rows.map((one) => one.length))).toBeLessThan(columns);
});

test.each([
  ['arguments', [ACCESSION, ...SIX]],
  ['an input', ['-i', 'in']],
])('a batch of files from %s shows their number before the first is complete', async (_, args) => {
  const service = await startPaused(SIX);
  const prepare = (path: string) => writeFile(join(path, 'in'), SIX.map((name) => `${ACCESSION} ${name}\n`).join(''));
  const at = await screen(['download', ...args, '-j', '2'], { env: service.env, prepare });
  await at.shows((lines) => /^0 of 6 files +4\.0 MB +[\d.]+ \w?B\/s$/.test(lines[0] ?? '') && bars(lines) === 2);
  for (const name of SIX.slice(0, 2)) service.release(name);
  await at.shows((lines) => lines.some((line) => /^2 of 6 files /.test(line)));
});

test('named files show a total of bytes when each of them has started', async () => {
  const service = await startPaused();
  const at = await screen(['download', ACCESSION, ...SIX.slice(0, 3), '-j', '2'], { env: service.env });
  await at.shows((lines) => /^0 of 3 files +4\.0 MB +[\d.]+ \w?B\/s$/.test(lines[0] ?? '') && bars(lines) === 2);
  service.release('a.htm');
  await at.shows((lines) => lines.some((line) => /^1 of 3 files +7\.0 MB of 9\.0 MB .* left$/.test(line)));
});
