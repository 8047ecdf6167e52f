// --done and --checksums in whole runs. The formats of both files are in service/done-list and service/checksums.
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { test as base, describe, expect } from 'vitest';
import { type Asked, accession, type Filings } from '../servers/archive.ts';
import { answering, archivePlace } from './batch.ts';
import { linesOf } from './run.ts';

const [A, B, REFUSED] = [accession(1), accession(2), accession(7)];
const FILINGS: Filings = {
  [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' },
  [B]: { 'b c.htm': 'b', 'ex.xml': 'ex', 'per%cent #1': 'x' },
  [REFUSED]: { 'a.htm': 'a', 'nul.htm': 'n' },
};
const DONE = ['--all', '--done', 'done'];

/** A workplace whose service has no file for which `isMissing` returns true. */
async function setUp(isMissing: (asked: Asked) => boolean = () => false) {
  const place = await archivePlace(FILINGS, { instead: answering(404, isMissing) });
  return { ...place, done: async () => `${await place.read('done')}` };
}
const test = base.extend('place', () => setUp());

describe('--done', () => {
  test('makes a second run send no request, and report only the count of its filings', async ({ place }) => {
    expect((await place.batch([A, B], DONE)).exitCode).toBe(0);
    const before = place.archive.asked().length;
    const entry = `(${A}|${B})\\t[0-9a-f]{16}\\t[0-9T:.Z-]+\\t[23]\\n`;
    expect(await place.done()).toMatch(new RegExp(`^${entry}${entry}$`));
    const second = await place.batch([A, B, A], DONE);
    expect([second.exitCode, place.archive.asked().length, second.report.files.length]).toEqual([0, before, 5]);
    expect(second.report.summaries.at(-1)).toMatchObject({ done: 2, downloaded: 0, skipped: 0, requests: 0 });
  });

  // In a shared directory, an existing file is fetched to compare it.
  test.each`
    layout                          | gone             | loss                            | requests
    ${'{accession_no}/{file_name}'} | ${`mirror/${A}`} | ${`mirror/${A} does not exist`} | ${2}
    ${'{accession_no}-{file_name}'} | ${'mirror'}      | ${'mirror has no files'}        | ${3}
    ${'{file_name}'}                | ${'mirror'}      | ${'mirror has no files'}        | ${3}
  `(
    'downloads a filing again if $gone is missing, even if the next run is cut short',
    async ({ layout, gone, loss, requests }) => {
      const { batch, at, archive } = await setUp();
      const args = [...DONE, '-d', 'mirror', '--layout', layout, '-j', '1', '-q'];
      await batch([A], args);
      await rm(at(gone), { recursive: true });
      await mkdir(at('mirror'), { recursive: true });
      const before = archive.asked().length;
      const { stderr } = await batch([A, A], [...args, '--max-requests', '2']);
      expect(stderr).toMatch(
        new RegExp(`^filings: warning: ${loss}, although --done has ${A}: .*\\(is a disk not mounted\\?\\)\\n$`),
      );
      expect(archive.asked()).toHaveLength(before + 2);
      const { report } = await batch([A], args);
      expect(report.summaries.at(-1)).toMatchObject({ done: 0, downloaded: 1, requests });
      expect((await batch([A], args)).report.summaries.at(-1)).toMatchObject({ done: 1, requests: 0 });
    },
  );

  test('does not take its own files, or a file in place of a directory, for a filing', async ({ place }) => {
    const books = '--done mirror/done --report mirror/report --failed mirror/failed --checksums';
    const inMirror = `--all -d mirror ${books}`.split(' ');
    for (const layout of ['{file_name}', '{accession_no}/{file_name}']) {
      const run = () => place.filings(['download', '-i', 'in', ...inMirror, '--layout', layout], place.archive.env);
      await place.write('in', `${A}\n`);
      // What a new disk has, and a kept part.
      await place.write('mirror/lost+found/x', '');
      await place.write('mirror/.x.htm.filings-resume', '');
      await run();
      for (const name of ['a.htm', 'ex1.htm', A])
        await rm(place.at(`mirror/${name}`), { recursive: true, force: true });
      if (layout !== '{file_name}') await place.write(`mirror/${A}`, 'a file');
      const { stderr } = await run();
      expect(stderr).toContain('is a disk not mounted?');
      await rm(place.at('mirror'), { recursive: true });
    }
  });

  test('does not skip a filing that was done with another selection', async ({ place }) => {
    await place.write('described', JSON.stringify({ listing: { files: 'files' } }));
    const other = ['-d other', '--layout {accession_no}-{file_name}', '--query x=1', '--config described'];
    const selections = ['--all', '--include ex*', '--all --exclude ex*', ...other.map((option) => `--all ${option}`)];
    const run = async (selection: string) => {
      const before = place.archive.asked().length;
      const { report } = await place.batch([A], [...selection.split(' '), '--done', 'done']);
      return [selection, report.summaries.at(-1)?.done, place.archive.asked().length > before];
    };
    for (const selection of selections) expect(await run(selection)).toEqual([selection, 0, true]);
    for (const selection of selections) expect(await run(selection)).toEqual([selection, 1, false]);
  });

  test('has no filing with a failed or refused file, without match or listing, or of which only files are named', async () => {
    const { batch, done } = await setUp(({ accession: asked, name }) => name === 'ex1.htm' || asked === accession(9));
    const refused = [`${REFUSED} nul.htm`, REFUSED];
    expect((await batch([A, accession(8), accession(9), `${B} ex.xml`, ...refused], DONE)).exitCode).toBe(3);
    expect(await done()).toBe('');
  });

  test.each`
    order       | lines
    ${'before'} | ${[`${B} ex.xml`, B]}
    ${'after'}  | ${[B, `${B} ex.xml`]}
  `('has a filing only when the file that a line $order its own names exists, too', async ({ lines }) => {
    let isBroken = true;
    const { batch, done } = await setUp(({ name }) => isBroken && name === 'ex.xml');
    expect((await batch(lines, DONE)).exitCode).toBe(3);
    expect(await done()).toBe('');
    isBroken = false;
    expect((await batch(lines, DONE)).exitCode).toBe(0);
    expect(await done()).toMatch(new RegExp(`^${B}\\t`));
  });

  test('skips a filing of the sandbox although the port differs', async ({ place }) => {
    const line = ['--sandbox', 'download', '-i', '-', '--report', 'report', ...DONE];
    for (const _ of [1, 2]) await place.filings(line, {}, { input: `${A}\n` });
    const { report } = await place.batch([], []);
    expect(report.summaries).toMatchObject([{ done: 0 }, { done: 1, requests: 0 }, {}]);
  });
});

const sumsOf = (number: string) =>
  Object.entries(FILINGS[number] ?? {})
    .map(([name, text]) => `${createHash('sha256').update(text).digest('hex')}  ${name}`)
    .sort();

test('--checksums lists each file once, even after a second run, and verify finds no difference', async ({ place }) => {
  for (const _ of [1, 2]) {
    expect((await place.batch([A, B], ['--all', '--checksums'])).exitCode).toBe(0);
    for (const number of [A, B])
      expect(linesOf(await place.read(`${number}/SHA256SUMS`)).sort()).toEqual(sumsOf(number));
  }
  expect((await place.filings(['verify', '.'])).exitCode).toBe(0);
});
