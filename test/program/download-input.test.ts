// Runs of an input. What a line may be is in service/input.
import { test as base, expect } from 'vitest';
import { heldClock } from '../held-clock.ts';
import { accession } from '../servers/archive.ts';
import { archivePlace, lines, numbered, type readReport } from './batch.ts';
import { linesOf } from './run.ts';

const [A, B, C] = [accession(1), accession(2), accession(3)];
const FILINGS = {
  [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' },
  [B]: { 'b c.htm': 'b' },
  [C]: { 'c.htm': 'c', 'd.xml': 'd' },
};
const test = base.extend('place', () => archivePlace(FILINGS));

/** How each file or line ended, sorted. */
const outcomes = ({ files }: ReturnType<typeof readReport>) =>
  files
    .map(({ accession_no, file_name, result, line }) => `${line ?? `${accession_no}/${file_name}`} ${result}`)
    .sort();

test('the files of lines in all three forms are downloaded, and --failed repeats the others', async ({ place }) => {
  const odd = `{"accession_no":"${A}","file_name":"\\ud800.htm"}`;
  const record = JSON.stringify({ accession_no: C, file_name: 'c.htm', size: 1, more: [1] });
  const mixed = ['\uFEFF# a comment', A, '  ', `${B}\t b c.htm\r`, record, `${A} a.htm`, 'nonsense', odd, C];
  await place.write('in', mixed.join('\n'));
  const args = ['-i', 'in', '--all', '-d', 'out', '--failed', 'failed', '-j', '1'];
  const { exitCode, stderr, report } = await place.batch(undefined, args);
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('line 7: ')]);
  expect(outcomes(report)).toEqual([
    `${A}/a.htm downloaded`,
    `${A}/ex1.htm downloaded`,
    `${A}/\ud800.htm failed`,
    `${B}/b c.htm downloaded`,
    `${C}/c.htm downloaded`,
    `${C}/d.xml downloaded`,
    '7 failed',
  ]);
  expect(report.files.find(({ line }) => line)).toMatchObject({ accession_no: null, file_name: null });
  expect(report.summaries).toMatchObject([{ downloaded: 5, failed: 2, not_started: 0, exit_code: 3 }]);
  expect(linesOf(await place.read('failed'))).toEqual([expect.stringMatching(/^# line 7: /), odd]);
  expect(`${await place.read(`out/${B}/b c.htm`)}`).toBe('b');
});

test.for(['download --all -i in', 'list -i in'])('%s without lines warns and exits with 0', async (line, { place }) => {
  await place.write('in', '# nothing today\n\n');
  const { exitCode, stderr } = await place.filings(line.split(' '), place.archive.env);
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('no lines')]);
  expect(place.archive.asked()).toEqual([]);
});

test('without a selection a line without a file ends the run, and the rest is counted', async ({ place }) => {
  const after = `${lines(999).join('\n')}\n# ${'x'.repeat(100_000)}\n${B} b c.htm\n`;
  await place.write('in', `${`${A} a.htm\n`.repeat(3)}${A}\n${after}`);
  // The time for which the end of the input is waited for never passes.
  const { sleep } = heldClock();
  const { exitCode, stderr, report } = await place.batch(undefined, ['-i', 'in', '-n'], { sleep });
  expect([exitCode, place.archive.asked()]).toEqual([2, []]);
  expect(stderr).toMatch(/line 4: .*no files selected/);
  expect(report.summaries).toMatchObject([{ planned: 1, failed: 1, not_started: 1000, stopped_by: 'usage' }]);
});

test('a file that lines far apart repeat is downloaded and reported once', async () => {
  const { archive, batch } = await numbered(240);
  const { exitCode, report } = await batch([...lines(240), A, ...lines(240)], ['-q', '--all']);
  expect([exitCode, report.files.length, archive.asked().length]).toEqual([0, 240, 241]);
});

test('of a listing only the files fail whose names collide or are reserved on some platform', async () => {
  const { batch } = await archivePlace({ [A]: { 'R2.htm': '1', 'r2.htm': '2', 'c.htm': '3', 'nul.htm': '4' } });
  const { exitCode, report } = await batch([A], ['--all', '-j', '1']);
  const ends = report.files.map(({ file_name, error }) => `${file_name} ${error?.exit_code ?? 'downloaded'}`);
  expect([exitCode, ends.sort()]).toEqual([3, ['R2.htm downloaded', 'c.htm downloaded', 'nul.htm 9', 'r2.htm 9']]);
});
