import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accession, startArchive } from '../servers/archive.ts';
import { batchPlace, type ReportRead } from './batch.ts';

const [A, B, C] = [accession(1), accession(2), accession(3)];
const FILINGS = {
  [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' },
  [B]: { 'b c.htm': 'b' },
  [C]: { 'c.htm': 'c', 'd.xml': 'd' },
};

async function setUp() {
  const archive = await startArchive(FILINGS);
  return { archive, place: await batchPlace(archive.env) };
}

/** `ACCESSION/NAME result` of each report line, or `LINE result`, sorted. */
const told = ({ files }: ReportRead) =>
  files
    .map(({ accession_no, file_name, result, line }) => `${line ?? `${accession_no}/${file_name}`} ${result}`)
    .sort();

describe('lines of the input', () => {
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

  it('a name that no text can hold is in --failed as the service has it', async () => {
    const { place } = await setUp();
    const line = `{"accession_no":"${A}","file_name":"\\ud800.htm"}\n`;
    const { exitCode } = await place.batch(line, ['--failed', 'failed']);
    expect(exitCode).toBe(3);
    expect((await place.read('failed')).toString()).toBe(line);
  });

  it.each(['a file', 'stdin'])('in their three forms, mixed, from %s', async (from) => {
    const { place } = await setUp();
    await writeFile(join(place.path, 'in'), MIXED);
    const more = ['--all', '-d', 'out', '--failed', 'failed', ...(from === 'stdin' ? [] : ['-i', 'in'])];
    const { exitCode, stderr, report } = await place.batch(from === 'stdin' ? MIXED : undefined, more);
    expect(told(report)).toEqual(
      [
        `${A}/a.htm downloaded`,
        `${A}/ex1.htm downloaded`,
        `${B}/b c.htm downloaded`,
        `${C}/c.htm downloaded`,
        `${C}/d.xml downloaded`,
        `${C}/../d.xml failed`,
        '8 failed',
        '9 failed',
      ].sort(),
    );
    expect(exitCode).toBe(3);
    expect(report.summaries).toMatchObject([{ downloaded: 5, failed: 3, not_started: 0, exit_code: 3 }]);
    expect(stderr).toMatch(/line 8: 'nonsense' is not an accession number/);
    expect(stderr).toMatch(/line 9: /);
    // A bad line is not repeated.
    const failed = (await place.read('failed')).toString();
    expect(failed).toMatch(/^# line 8: .*\n# line 9: .*\n/);
    expect(failed.replace(/^#.*\n/gm, '')).toBe(`${C} ../d.xml\n`);
    expect((await place.read(`out/${B}/b c.htm`)).toString()).toBe('b');
  });

  it('bad ones, 100 among 1,000: each is reported with its number, and the rest is fetched', async () => {
    const archive = await startArchive({ [A]: Object.fromEntries(names(1000).map((name) => [name, name])) });
    const place = await batchPlace(archive.env);
    const lines = names(1000).map((name, at) => (at % 10 === 3 ? `line ${name}` : `${A} ${name}`));
    const { exitCode, report } = await place.batch(lines, ['-q']);
    expect(exitCode).toBe(3);
    const bad = report.files.filter(({ result }) => result === 'failed');
    expect(bad.map(({ line }) => line).sort((a = 0, b = 0) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, at) => at * 10 + 4),
    );
    expect(bad.every(({ accession_no, file_name }) => accession_no === null && file_name === null)).toBe(true);
    expect(report.summaries).toMatchObject([{ downloaded: 900, failed: 100, exit_code: 3 }]);
    expect(archive.asked()).toHaveLength(900);
  });

  it('takes what list --json prints as it is', async () => {
    const { archive, place } = await setUp();
    const { stdout } = await place.filings(['list', '--json', A, B, C], archive.env);
    const { exitCode, report } = await place.batch(stdout.toString());
    expect(exitCode).toBe(0);
    expect(told(report)).toHaveLength(5);
    expect((await place.read(`${B}/b c.htm`)).toString()).toBe('b');
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
    const archive = await startArchive({ [A]: Object.fromEntries(names(990).map((name) => [name, name])) });
    const place = await batchPlace(archive.env);
    const lines = names(990).map((name) => `${A} ${name}`);
    const { exitCode, report } = await place.batch([...lines, A, ...lines], ['-q', '--all']);
    expect(exitCode).toBe(0);
    expect(report.files).toHaveLength(990);
    expect(archive.asked()).toHaveLength(991);
  });

  it('names that two platforms confuse, named and from a listing: that file alone has failed', async () => {
    const archive = await startArchive({
      [A]: { 'R2.htm': '1', 'r2.htm': '2', 'c.htm': '3', 'nul.htm': '4', 'a:b': '5' },
    });
    const place = await batchPlace(archive.env);
    const { exitCode, report } = await place.batch([A], ['--all', '--failed', 'failed', '--done', 'done']);
    expect(exitCode).toBe(3);
    const failed = report.files.filter(({ result }) => result === 'failed');
    expect(failed.map(({ error }) => error?.exit_code)).toEqual(failed.map(() => 9));
    expect(report.files.filter(({ result }) => result === 'downloaded').map(({ file_name }) => file_name)).toContain(
      'c.htm',
    );
    expect(report.files).toHaveLength(5);
    expect((await place.read('done')).toString()).toBe('');
  });
});

function names(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `f${at}.htm`);
}
