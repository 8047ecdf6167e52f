import { expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession, type Instead } from '../servers/archive.ts';
import { archivePlace, lines, numbered, type readReport } from './batch.ts';

const [A, B, C] = [accession(1), accession(2), accession(3)];
const FILINGS = {
  [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' },
  [B]: { 'b c.htm': 'b' },
  [C]: { 'c.htm': 'c', 'd.xml': 'd' },
};

/** `ACCESSION/NAME result` of each report line, or `LINE result`, sorted. */
const outcomes = ({ files }: ReturnType<typeof readReport>) =>
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

test.each(['a file', 'stdin'])('downloads the files of lines in all three forms, from %s', async (from) => {
  const { batch, read, write } = await archivePlace(FILINGS);
  await write('in', MIXED);
  const more = ['--all', '-d', 'out', '--failed', 'failed', ...(from === 'stdin' ? [] : ['-i', 'in'])];
  const { exitCode, stderr, report } = await batch(from === 'stdin' ? MIXED : undefined, more);
  const downloaded = [`${A}/a.htm`, `${A}/ex1.htm`, `${B}/b c.htm`, `${C}/c.htm`, `${C}/d.xml`];
  const failed = [`${C}/../d.xml`, '8', '9'];
  expect(outcomes(report)).toEqual(
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
  expect(`${await read('failed')}`).toMatch(new RegExp(`^# line 8: .*\\n# line 9: .*\\n${C} \\.\\./d\\.xml\\n$`));
  expect(`${await read(`out/${B}/b c.htm`)}`).toBe('b');
});

test('--failed repeats the JSON line of a name that is not valid Unicode', async () => {
  const { batch, read } = await archivePlace(FILINGS);
  const line = `{"accession_no":"${A}","file_name":"\\ud800.htm"}\n`;
  expect((await batch(line, ['--failed', 'failed'])).exitCode).toBe(3);
  expect(`${await read('failed')}`).toBe(line);
});

test('--input accepts the output of list --json', async () => {
  const { archive, batch, filings } = await archivePlace(FILINGS);
  const { stdout } = await filings(['list', '--json', A, B, C], archive.env);
  const { exitCode, report } = await batch(`${stdout}`);
  expect([exitCode, outcomes(report).length]).toEqual([0, 5]);
});

test('--input accepts a record that is longer than a line of text may be', async () => {
  const instead: Instead = (socket, { name }) => {
    const record = { file_name: 'a.htm', description: 'x'.repeat(200_000), note: 'y"'.repeat(50_000) };
    const body = name === undefined ? JSON.stringify([record]) : 'xx';
    return socket.write(head(200, { 'Content-Length': Buffer.byteLength(body) }) + body);
  };
  const { archive, batch, filings } = await archivePlace({}, { instead });
  const { stdout } = await filings(['list', '--json', A], archive.env);
  const { exitCode, report } = await batch(`${stdout}`);
  expect([exitCode, outcomes(report)]).toEqual([0, [`${A}/a.htm downloaded`]]);
});

test('--input reads UTF-16 lines with CRLF, as PowerShell writes them', async () => {
  const { batch, write } = await archivePlace(FILINGS);
  await write('in', Buffer.from(`\ufeff${A} a.htm\r\n${B} b c.htm\r\n`, 'utf16le'));
  const { exitCode, report } = await batch(undefined, ['-i', 'in']);
  expect([exitCode, outcomes(report)]).toEqual([0, [`${A}/a.htm downloaded`, `${B}/b c.htm downloaded`]]);
});

test.each(['', '# nothing today\n\n'])(
  'an input without any line causes a warning and exits with 0 (%j)',
  async (input) => {
    const { archive, batch, filings, write } = await archivePlace(FILINGS);
    await write('in', input);
    for (const ended of [
      await batch(undefined, ['-i', 'in', '--all']),
      await filings(['list', '-i', 'in'], archive.env),
    ]) {
      expect([ended.exitCode, ended.stderr]).toEqual([0, expect.stringContaining('warning: the input has no lines\n')]);
    }
    expect(archive.asked()).toEqual([]);
  },
);

test('a line that names no file ends a run without selection, and the other lines of the file are counted', async () => {
  const { archive, batch, write } = await archivePlace(FILINGS);
  await write(
    'in',
    `${`${A} a.htm\n`.repeat(3)}${A}\n${lines(999).join('\n')}\n# ${'x'.repeat(100_000)}\n${B} b c.htm\n`,
  );
  const { exitCode, stderr, report } = await batch(undefined, ['-i', 'in', '-n']);
  expect([exitCode, archive.asked()]).toEqual([2, []]);
  expect(stderr).toMatch(/line 4: .*no files selected[\s\S]*--all/);
  expect(report.summaries).toMatchObject([{ planned: 1, failed: 1, not_started: 1000, stopped_by: 'usage' }]);
});

test('downloads and reports a file once if lines far apart repeat it', async () => {
  const { archive, batch } = await numbered(240);
  const { exitCode, report } = await batch([...lines(240), A, ...lines(240)], ['-q', '--all']);
  expect([exitCode, report.files.length, archive.asked().length]).toEqual([0, 240, 241]);
});

test('fails only the files of a listing whose names collide or are reserved on some platform', async () => {
  const { batch } = await archivePlace({
    [A]: { 'R2.htm': '1', 'r2.htm': '2', 'c.htm': '3', 'nul.htm': '4', 'a:b': '5' },
  });
  const { exitCode, report } = await batch([A], ['--all', '-j', '1']);
  expect(exitCode).toBe(3);
  const outcomes = report.files.map(({ file_name, error }) => `${file_name} ${error?.exit_code ?? 'downloaded'}`);
  expect(outcomes.sort()).toEqual(['R2.htm downloaded', 'a:b 9', 'c.htm downloaded', 'nul.htm 9', 'r2.htm 9']);
});
