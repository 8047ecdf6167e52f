import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { accession, startArchive } from '../servers/archive.ts';
import { batchPlace, type ReportRead } from './batch.ts';

const [A, B, C] = [accession(1), accession(2), accession(3)];
const FILINGS = {
  [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' },
  [B]: { 'b c.htm': 'b' },
  [C]: { 'c.htm': 'c', 'd.xml': 'd' },
};
const NAMES = Array.from({ length: 990 }, (_, at) => `f${at}.htm`);
const LINES = NAMES.map((name) => `${A} ${name}`);

async function setUp(filings: Parameters<typeof startArchive>[0] = FILINGS) {
  const archive = await startArchive(filings);
  return { archive, place: await batchPlace(archive.env) };
}

/** `ACCESSION/NAME result` of each report line, or `LINE result`, sorted. */
const told = ({ files }: ReportRead) =>
  files
    .map(({ accession_no, file_name, result, line }) => `${line ?? `${accession_no}/${file_name}`} ${result}`)
    .sort();

const MIXED = [
  '\uFEFF# a comment behind a byte order mark',
  '',
  `${A}`,
  `  `,
  `${B}\t b c.htm\r`,
  JSON.stringify({ accession_no: C, file_name: 'c.htm', size: 1, more: [1] }),
  `${A} a.htm`,
  'nonsense',
  `{"accession_no":"${C}"`,
  `${C} ../d.xml`,
  `${C}`,
].join('\n');

it.each(['a file', 'stdin'])('lines in their three forms, mixed, from %s', async (from) => {
  const { place } = await setUp();
  await writeFile(join(place.path, 'in'), MIXED);
  const more = ['--all', '-d', 'out', '--failed', 'failed', ...(from === 'stdin' ? [] : ['-i', 'in'])];
  const { exitCode, stderr, report } = await place.batch(from === 'stdin' ? MIXED : undefined, more);
  const downloaded = [`${A}/a.htm`, `${A}/ex1.htm`, `${B}/b c.htm`, `${C}/c.htm`, `${C}/d.xml`];
  const failed = [`${C}/../d.xml`, '8', '9'];
  expect(told(report)).toEqual(
    [...downloaded.map((name) => `${name} downloaded`), ...failed.map((name) => `${name} failed`)].sort(),
  );
  expect(report.files.filter(({ line }) => line)).toMatchObject([
    { line: 8, accession_no: null, file_name: null },
    { line: 9, accession_no: null, file_name: null },
  ]);
  expect(exitCode).toBe(3);
  expect(report.summaries).toMatchObject([{ downloaded: 5, failed: 3, not_started: 0, exit_code: 3 }]);
  expect(stderr).toMatch(/line 8: 'nonsense' is not an accession number/);
  expect(stderr).toMatch(/line 9: /);
  expect((await place.read('failed')).toString()).toMatch(
    new RegExp(`^# line 8: .*\\n# line 9: .*\\n${C} \\.\\./d\\.xml\\n$`),
  );
  expect((await place.read(`out/${B}/b c.htm`)).toString()).toBe('b');
});

it('a name that no text can hold is in --failed as the service has it', async () => {
  const { place } = await setUp();
  const line = `{"accession_no":"${A}","file_name":"\\ud800.htm"}\n`;
  expect((await place.batch(line, ['--failed', 'failed'])).exitCode).toBe(3);
  expect((await place.read('failed')).toString()).toBe(line);
});

it('what list --json prints is taken as it is', async () => {
  const { archive, place } = await setUp();
  const { stdout } = await place.filings(['list', '--json', A, B, C], archive.env);
  const { exitCode, report } = await place.batch(stdout.toString());
  expect([exitCode, told(report).length]).toEqual([0, 5]);
});

it('an accession alone, with nothing that says what to take: exit 2', async () => {
  const { archive, place } = await setUp();
  const { exitCode, stderr, report } = await place.batch([A, B]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/--all/);
  expect(archive.asked()).toEqual([]);
  expect(report.summaries).toMatchObject([{ exit_code: 2, stopped_by: 'usage' }]);
});

it('named twice, a thousand lines apart: fetched once and reported once', async () => {
  const { archive, place } = await setUp({ [A]: Object.fromEntries(NAMES.map((name) => [name, name])) });
  const { exitCode, report } = await place.batch([...LINES, A, ...LINES], ['-q', '--all']);
  expect([exitCode, report.files.length, archive.asked().length]).toEqual([0, 990, 991]);
});

it('names that two platforms confuse, from a listing: that file alone has failed', async () => {
  const { place } = await setUp({
    [A]: { 'R2.htm': '1', 'r2.htm': '2', 'c.htm': '3', 'nul.htm': '4', 'a:b': '5' },
  });
  const { exitCode, report } = await place.batch([A], ['--all', '-j', '1']);
  expect(exitCode).toBe(3);
  const told = report.files.map(({ file_name, error }) => `${file_name} ${error?.exit_code ?? 'came'}`);
  expect(told.sort()).toEqual(['R2.htm came', 'a:b 9', 'c.htm came', 'nul.htm 9', 'r2.htm 9']);
});
