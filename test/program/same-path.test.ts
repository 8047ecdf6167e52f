import { describe, expect, it } from 'vitest';
import { accession } from '../servers/archive.ts';
import { archivePlace } from './batch.ts';

// Two filings of one run have files at the same path, because the layout omits the accession number.
const [A, B, C] = [accession(1), accession(2), accession(3)];
const FLAT = ['--layout', '{file_name}'];
const setUp = (second = 'a.htm', content = 'first') =>
  archivePlace({ [A]: { 'a.htm': 'first' }, [B]: { [second]: content }, [C]: { 'c.htm': 'third' } });

describe.each(['skip', 'compare', 'overwrite', 'error'])('--if-exists %s', (ifExists) => {
  const args = [...FLAT, '--if-exists', ifExists];

  it.each<[string, string, string]>([
    ['with other bytes', 'a.htm', 'second'],
    ['with the same bytes', 'a.htm', 'first'],
    ['whose name differs in case', 'A.HTM', 'second'],
  ])('fails the second file %s, and the error names both filings', async (_, name, content) => {
    const { batch, read, names, archive } = await setUp(name, content);
    for (const more of [['-n'], ['-j', '8']]) {
      const { exitCode, report, stderr } = await batch(
        [`${A} a.htm`, `${B} ${name}`, `${C} c.htm`],
        [...args, ...more],
      );
      expect(exitCode, stderr).toBe(3);
      const refused = report.files.find((line) => line.accession_no === B);
      expect(refused).toMatchObject({ path: name, result: 'failed', error: { code: 'local_io', exit_code: 8 } });
      for (const number of [A, B]) expect(refused?.error?.message).toContain(number);
    }
    expect(`${await read('a.htm')}`).toBe('first');
    expect((await names()).sort()).toEqual(['a.htm', 'c.htm', 'report']);
    expect(archive.asked()).not.toContain(`${B}/${name}`);
  });
});

it('fails one of two files that are chosen from listings, in the report, --failed and --done', async () => {
  const { archive, batch, read } = await setUp();
  const { exitCode, report } = await batch([A, B, C], ['--all', ...FLAT, '--done', 'done', '--failed', 'failed']);
  expect(exitCode).toBe(3);
  expect(report.files.map(({ result, error }) => error?.code ?? result).sort()).toEqual([
    'downloaded',
    'downloaded',
    'local_io',
  ]);
  const [first = '', second = ''] = report.files.some((line) => line.accession_no === A && line.error)
    ? [B, A]
    : [A, B];
  expect(`${await read('failed')}`).toBe(`${second} a.htm\n`);
  expect(`${await read('done')}`).toContain(first);
  expect(`${await read('done')}`).not.toContain(second);
  expect(archive.asked()).toContain(`${first}/a.htm`);
});

it('fails a file once if the input names it twice', async () => {
  const { batch } = await setUp();
  const { report } = await batch([`${A} a.htm`, `${B} a.htm`, `${B} a.htm`, `${A} a.htm`], FLAT);
  expect(report.summaries).toMatchObject([{ downloaded: 1, failed: 1 }]);
});
