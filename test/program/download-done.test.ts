import { createHash } from 'node:crypto';
import { appendFile, mkdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession, type Filings, type Instead } from '../servers/archive.ts';
import { archivePlace } from './batch.ts';
import { linesOf } from './run.ts';

const [A, B] = [accession(1), accession(2)];
const FILINGS: Filings = {
  [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' },
  [B]: { 'b c.htm': 'b', 'ex.xml': 'ex', 'per%cent #1': 'x' },
};
const REFUSED = { [accession(7)]: { 'a.htm': 'a', 'nul.htm': 'n' } };
const DONE = ['--all', '--done', 'done'];

const setUp = (instead: Instead = () => false) => archivePlace({ ...FILINGS, ...REFUSED }, { instead });
const notFound = head(404, { 'Content-Length': 0 });

describe('--done', () => {
  test('makes a second run send no request and report only the count of its filings', async () => {
    const place = await setUp();
    expect((await place.batch([A, B], DONE)).exitCode).toBe(0);
    const before = place.archive.asked().length;
    const entry = `(${A}|${B})\\t[0-9a-f]{16}\\t[0-9T:.Z-]+\\t[23]\\n`;
    expect(`${await place.read('done')}`).toMatch(new RegExp(`^${entry}${entry}$`));
    const second = await place.batch([A, B, A], DONE);
    expect([second.exitCode, place.archive.asked().length, second.report.files.length]).toEqual([0, before, 5]);
    expect(second.report.summaries.at(-1)).toMatchObject({ done: 2, downloaded: 0, skipped: 0, requests: 0 });
  });

  test.each([
    ['other patterns', ['--include', 'ex*']],
    ['another directory', ['--all', '-d', 'other']],
    ['another layout', ['--all', '--layout', '{accession_no}-{file_name}']],
    ['files left out', ['--exclude', 'ex*']],
    ['another query', ['--all', '--query', 'x=1']],
    ['a described listing', ['--all', '--config', 'config-listing']],
  ])('does not skip a filing that was done with another selection: %s', async (_what, selection) => {
    const place = await setUp();
    await place.write('config-listing', JSON.stringify({ listing: { files: 'files' } }));
    await place.batch([A], DONE);
    const before = place.archive.asked().length;
    await place.batch([A], [...selection, '--done', 'done']);
    expect(place.archive.asked().length).toBeGreaterThan(before);
    const once = place.archive.asked().length;
    const { report } = await place.batch([A], [...selection, '--done', 'done']);
    expect(place.archive.asked()).toHaveLength(once);
    expect(report.summaries.at(-1)).toMatchObject({ done: 1 });
  });

  test('records no filing with a failed or refused file, without match or listing, or of which only files are named', async () => {
    const place = await setUp((socket, { accession: asked, name }) => {
      const isMissing = name === 'ex1.htm' || asked === accession(9);
      if (isMissing) socket.write(notFound);
      return isMissing;
    });
    const refused = [`${accession(7)} nul.htm`, accession(7)];
    expect((await place.batch([A, accession(8), accession(9), `${B} ex.xml`, ...refused], DONE)).exitCode).toBe(3);
    expect(`${await place.read('done')}`).toBe('');
  });

  test.each([
    ['before its own line', [`${B} ex.xml`, B]],
    ['after its own line', [B, `${B} ex.xml`]],
  ])('records a filing only when the file that a line names %s exists, too', async (_, lines) => {
    let isBroken = true;
    const place = await setUp((socket, { name }) => {
      const isMissing = isBroken && name === 'ex.xml';
      if (isMissing) socket.write(notFound);
      return isMissing;
    });
    expect((await place.batch(lines, DONE)).exitCode).toBe(3);
    expect(`${await place.read('done')}`).toBe('');
    isBroken = false;
    expect((await place.batch(lines, DONE)).exitCode).toBe(0);
    expect(`${await place.read('done')}`).toMatch(new RegExp(`^${B}\\t`));
  });

  test('skips a filing of the sandbox although the port differs', async () => {
    const place = await setUp();
    const line = ['--sandbox', 'download', '-i', '-', '--report', 'report', ...DONE];
    for (const _ of [1, 2]) await place.filings(line, {}, { input: `${A}\n` });
    const { report } = await place.batch([], []);
    expect(report.summaries).toMatchObject([{ done: 0 }, { done: 1, requests: 0 }, {}]);
  });
});

describe('--checksums', () => {
  const line = (name: string, text: string | Buffer) => `${createHash('sha256').update(text).digest('hex')}  ${name}`;
  const sumsOf = (number: string) =>
    Object.entries(FILINGS[number] ?? {})
      .map(([name, text]) => line(name, text))
      .sort();

  test('lists each file once, in the format of sha256sum, also after a second run', async () => {
    const place = await setUp();
    for (const _ of [1, 2]) {
      expect((await place.batch([A, B], ['--all', '--checksums'])).exitCode).toBe(0);
      for (const number of [A, B]) {
        expect(linesOf(await place.read(`${number}/SHA256SUMS`)).sort()).toEqual(sumsOf(number));
      }
    }
    expect((await place.filings(['verify', '.'])).exitCode).toBe(0);
  });

  test('hashes and lists an existing file that has no entry, without a download, and a torn line becomes a comment', async () => {
    const place = await setUp();
    await place.batch([A], ['--all']);
    const before = place.archive.asked().length;
    await appendFile(place.at(`${A}/SHA256SUMS`), 'deadbeef');
    const { report } = await place.batch([A], ['--all', '--checksums', '-j', '1']);
    expect(place.archive.asked()).toHaveLength(before + 1);
    expect(linesOf(await place.read(`${A}/SHA256SUMS`)).sort()).toEqual(['#eadbeef', ...sumsOf(A)]);
    const hash = createHash('sha256').update('ex').digest('hex');
    expect(report.files.filter(({ result, sha256 }) => result === 'skipped' && sha256 === hash)).toHaveLength(1);
  });

  test('reports a file that cannot be listed as failed, and its filing is not done', async () => {
    const place = await setUp();
    await place.batch([`${A} a.htm`], []);
    await mkdir(place.at(`${A}/SHA256SUMS`));
    const { exitCode, report } = await place.batch([A], ['--checksums', ...DONE]);
    expect([exitCode, report.endsSummed]).toEqual([8, true]);
    expect(report.files.at(-1)).toMatchObject({ result: 'failed', bytes: 0 });
    expect(`${await place.read('done')}`).toBe('');
  });
});
