// Runs of an input. What a line may be is in service/input.
import { test as base, expect } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession } from '../servers/archive.ts';
import { archivePlace, lines, numbered, type readReport } from './batch.ts';

const [A, B, C] = [accession(1), accession(2), accession(3)];
const FILINGS = {
  [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' },
  [B]: { 'b c.htm': 'b' },
  [C]: { 'c.htm': 'c', 'd.xml': 'd' },
};
const test = base.extend('place', () => archivePlace(FILINGS));

/** `ACCESSION/NAME result` of each report line, or `LINE result`, sorted. */
const outcomes = ({ files }: ReturnType<typeof readReport>) =>
  files
    .map(({ accession_no, file_name, result, line }) => `${line ?? `${accession_no}/${file_name}`} ${result}`)
    .sort();

test('a run downloads the files of lines in all three forms, and --failed repeats the invalid lines', async ({
  place,
}) => {
  const odd = `{"accession_no":"${A}","file_name":"\\ud800.htm"}`;
  const mixed = [
    '\uFEFF# a comment behind a byte order mark',
    A,
    '  ',
    `${B}\t b c.htm\r`,
    JSON.stringify({ accession_no: C, file_name: 'c.htm', size: 1, more: [1] }),
    `${A} a.htm`,
    'nonsense',
    `{"accession_no":"${C}"`,
    odd,
    C,
  ];
  await place.write('in', mixed.join('\n'));
  const args = ['-i', 'in', '--all', '-d', 'out', '--failed', 'failed'];
  const { exitCode, stderr, report } = await place.batch(undefined, args);
  expect(exitCode, stderr).toBe(3);
  const downloaded = [`${A}/a.htm`, `${A}/ex1.htm`, `${B}/b c.htm`, `${C}/c.htm`, `${C}/d.xml`];
  const failed = [`${A}/\ud800.htm`, '7', '8'];
  expect(outcomes(report)).toEqual(
    [...downloaded.map((name) => `${name} downloaded`), ...failed.map((name) => `${name} failed`)].sort(),
  );
  expect(report.files.filter(({ line }) => line)).toMatchObject([
    { line: 7, accession_no: null, file_name: null },
    { line: 8, accession_no: null, file_name: null },
  ]);
  expect(report.summaries).toMatchObject([{ downloaded: 5, failed: 3, not_started: 0, exit_code: 3 }]);
  expect(stderr).toMatch(/line 7: .*\n(.*\n)*.*line 8: /);
  expect(`${await place.read('failed')}`).toMatch(/^# line 7: .*\n# line 8: .*\n/);
  expect(`${await place.read('failed')}`).toContain(`\n${odd}\n`);
  expect(`${await place.read(`out/${B}/b c.htm`)}`).toBe('b');
});

test('--input accepts the output of list --json, whose records may be longer than a line of text', async () => {
  const record = { file_name: 'a.htm', description: 'x'.repeat(200_000), note: 'y"'.repeat(50_000) };
  const listing = JSON.stringify([record]);
  const { archive, batch, filings } = await archivePlace(
    { [A]: { 'a.htm': 'a' } },
    {
      instead: (socket, { name }) =>
        name === undefined && socket.write(head(200, { 'Content-Length': listing.length }) + listing),
    },
  );
  const { stdout } = await filings(['list', '--json', A], archive.env);
  const { exitCode, report } = await batch(`${stdout}`);
  expect([exitCode, outcomes(report)]).toEqual([0, [`${A}/a.htm downloaded`]]);
});

test('an input without any line causes a warning and exit status 0', async ({ place }) => {
  await place.write('in', '# nothing today\n\n');
  for (const args of [
    ['download', '-i', 'in', '--all'],
    ['list', '-i', 'in'],
  ]) {
    const { exitCode, stderr } = await place.filings(args, place.archive.env);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('warning: the input has no lines')]);
  }
  expect(place.archive.asked()).toEqual([]);
});

test('a line that names no file ends a run without selection, and the lines after it are counted', async ({
  place,
}) => {
  const after = `${lines(999).join('\n')}\n# ${'x'.repeat(100_000)}\n${B} b c.htm\n`;
  await place.write('in', `${`${A} a.htm\n`.repeat(3)}${A}\n${after}`);
  const { exitCode, stderr, report } = await place.batch(undefined, ['-i', 'in', '-n']);
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
