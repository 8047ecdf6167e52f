import { test as base, expect } from 'vitest';
import { ACCESSION } from '../program.ts';
import { startPaused } from './held.ts';
import { screen } from './screen.ts';

const FILE = /^a\.htm {2}\[====== {4}\] {2}66% {2}2\.0 MB of 3\.0 MB {2}[\d.]+ \w?B\/s {2}\d+ \w+ left$/;

/** A download that shows its line, and whose end leaves nothing else on the screen. */
const test = base.extend('single', async () => {
  const service = await startPaused();
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env });
  expect(await at.shows(FILE)).toHaveLength(1);
  async function expectToEnd(): Promise<void> {
    service.release('a.htm');
    expect(await at.ended).toBe(0);
    expect(at.lines()).toEqual(['a.htm: 3.0 MB']);
  }
  return { ...at, expectToEnd };
});

test('a single file has a line with a bar, which is replaced at the end', async ({ single }) => {
  await single.expectToEnd();
});

test('nothing of the line remains when the terminal has become narrower', async ({ single }) => {
  await single.resize({ columns: 30, rows: 10 });
  await single.shows((lines) => lines.length === 1 && /^a\.htm {2}\[====== {4}\] {2}66% {2}2\.…$/.test(lines[0] ?? ''));
  // Unlike this terminal, others wrap the line of the cursor, so each frame clears what is below.
  expect(single.bytes()).toContain('\x1b[J\r');
  await single.expectToEnd();
});

test('a batch has one line with its files, bytes, speed and time left, however many jobs run', async () => {
  const names = ['a.htm', 'b.htm', 'c.htm'];
  const service = await startPaused(names);
  const at = await screen(['download', ACCESSION, '--all', '-j', '64'], { env: service.env });
  const first = await at.shows(/^0 of 3 files {2}\[.*\] {2}66% {2}6\.0 MB of 9\.0 MB .* left$/);
  expect(first).toHaveLength(1);
  service.release('a.htm');
  await at.shows(/^1 of 3 files .* 77% {2}7\.0 MB of 9\.0 MB /);
  for (const name of names.slice(1)) service.release(name);
  expect(await at.ended).toBe(0);
  expect(at.lines()).toEqual([expect.stringMatching(/^3 downloaded .*9\.0 MB.*; 4 requests, /)]);
});

test('a batch shows its filings until all listings have arrived', async () => {
  const accessions = [1, 2, 3, 4, 5].map((number) => `0001234567-24-00000${number}`);
  const service = await startPaused(['a.htm'], accessions);
  // With one job, the last listings are not requested before the first file has ended.
  const at = await screen(['download', ...accessions, '--all', '-j', '1'], { env: service.env });
  await at.shows(/^0 files, 0 of 5 filings {2}\[ {10}\] {2}0% {2}2\.0 MB {2}/);
  service.release('a.htm', true);
  await at.shows(/^1 file, 1 of 5 filings {2}\[== {8}\] {2}20% {2}5\.0 MB {2}/);
  service.release('a.htm');
  expect(await at.ended).toBe(0);
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
});

test.for`
  columns | name                               | line
  ${95}   | ${`${'long-name-'.repeat(6)}.htm`} | ${/^(long-name-)+[long-]*… {2}\[.* left$/}
  ${40}   | ${'a.htm'}                         | ${/^a\.htm {2}\[====== {4}\] {2}66% {2}2\.0 MB of 3\.…$/}
  ${12}   | ${'a.htm'}                         | ${/^a\.htm {2}\[==…$/}
`('in $columns columns the line of $name fits', async ({ columns, name, line }) => {
  const service = await startPaused();
  const at = await screen(['download', ACCESSION, name], { env: service.env, size: { columns, rows: 10 } });
  const [first = ''] = await at.shows(line);
  expect(first.length).toBeLessThan(columns);
});
