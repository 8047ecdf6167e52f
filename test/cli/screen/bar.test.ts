import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ACCESSION, until } from '../program.ts';
import { startPaused } from './held.ts';
import { screen } from './screen.ts';

const FILE = /^a\.htm {2}\[====== {4}\] {2}66% {2}2\.0 MB of 3\.0 MB {2}[\d.]+ \w?B\/s {2}\d+ \w+ left$/;

test('a single file has a line with a bar, which is replaced at the end', async () => {
  const service = await startPaused();
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env });
  expect(await at.shows((lines) => FILE.test(lines.at(-1) ?? ''))).toHaveLength(1);
  service.release('a.htm');
  expect(await at.ended).toBe(0);
  expect(at.lines()).toEqual(['a.htm: 3.0 MB']);
});

test('a batch has one line with its files, bytes, speed and time left, however many jobs run', async () => {
  const names = ['a.htm', 'b.htm', 'c.htm'];
  const service = await startPaused(names);
  const at = await screen(['download', ACCESSION, '--all', '-j', '64'], { env: service.env });
  const first = await at.shows((now) =>
    /^0 of 3 files {2}\[.*\] {2}66% {2}6\.0 MB of 9\.0 MB .* left$/.test(now[0] ?? ''),
  );
  expect(first).toHaveLength(1);
  service.release('a.htm');
  await at.shows((now) => /^1 of 3 files .* 77% {2}7\.0 MB of 9\.0 MB /.test(now[0] ?? ''));
  for (const name of names.slice(1)) service.release(name);
  expect(await at.ended).toBe(0);
  expect(at.lines()).toEqual([expect.stringMatching(/^3 downloaded .*9\.0 MB.*; 4 requests, /)]);
});

test('with --verbose the lines of the files are above the line of the batch', async () => {
  const service = await startPaused(['a.htm', 'b.htm']);
  const at = await screen(['download', ACCESSION, '--all', '-v'], {
    env: service.env,
    size: { columns: 120, rows: 30 },
  });
  await at.shows((now) => /^0 of 2 files .* 4\.0 MB of/.test(now.at(-1) ?? ''));
  service.release('a.htm');
  await at.shows((now) => /^1 of 2 files/.test(now.at(-1) ?? ''));
  expect(at.lines().filter((line) => /\ba\.htm: 3\.0 MB$/.test(line))).toHaveLength(1);
  service.release('b.htm');
  expect(await at.ended).toBe(0);
});

test.each<{ columns: number; name: string; line: RegExp }>([
  { columns: 50, name: 'a.htm', line: /^a\.htm {2}66% {2}2\.0 MB of 3\.0 MB .*\/s {2}\d+ \w+ left$/ },
  { columns: 30, name: 'a.htm', line: /^a\.htm {2}66% {2}2\.0 MB of 3\.0 MB$/ },
  { columns: 12, name: 'a.htm', line: /^a\.htm {2}66%$/ },
  { columns: 80, name: `${'long-name-'.repeat(6)}.htm`, line: /^(long-name-)+[long-]*… {2}\[.* left$/ },
])('in $columns columns the line of $name fits', async ({ columns, name, line }) => {
  const service = await startPaused();
  const at = await screen(['download', ACCESSION, name], { env: service.env, size: { columns, rows: 10 } });
  const [first = ''] = await at.shows((lines) => line.test(lines[0] ?? ''));
  expect(first.length).toBeLessThan(columns);
});

test('nothing of the line remains when the terminal has become narrower', async () => {
  const service = await startPaused();
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env });
  await at.shows((lines) => FILE.test(lines.at(-1) ?? ''));
  // A terminal that wraps the line moves the cursor with the text, so it must wait at the start of the line.
  await until(() => at.cursor() === 0);
  at.resize({ columns: 30, rows: 10 });
  await at.shows((lines) => lines.length === 1 && lines[0] === 'a.htm  66%  2.0 MB of 3.0 MB');
  service.release('a.htm');
  expect(await at.ended).toBe(0);
  expect(at.lines()).toEqual(['a.htm: 3.0 MB']);
});

test.runIf(process.platform === 'linux')(
  'nothing of the line remains after Ctrl-Z, and it is drawn again',
  async () => {
    const service = await startPaused();
    const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env });
    await at.shows((lines) => FILE.test(lines.at(-1) ?? ''));
    process.kill(at.pid, 'SIGTSTP');
    await until(async () => / T /.test(await readFile(`/proc/${at.pid}/stat`, 'utf8')));
    await at.shows((lines) => lines.join('') === '');
    process.kill(at.pid, 'SIGCONT');
    await at.shows((lines) => FILE.test(lines.at(-1) ?? ''));
    service.release('a.htm');
    expect(await at.ended).toBe(0);
    expect(at.lines()).toEqual(['a.htm: 3.0 MB']);
  },
);
