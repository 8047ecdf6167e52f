import { mkdir, readdir, symlink } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { accession } from '../servers/archive.ts';
import { archivePlace } from './batch.ts';

const [A, B] = [accession(1), accession(2)];

/** Filings of which the first has a link where its directory is to be, and a way to the directory that is a link, too. */
async function setUp() {
  const place = await archivePlace({ [A]: { 'a.htm': 'a' }, [B]: { 'b.htm': 'b' } });
  const { at } = place;
  for (const name of ['real', 'elsewhere']) await mkdir(at(name));
  await symlink('real', at('mirror'));
  await symlink('../elsewhere', at(`real/${A}`));
  return { ...place, env: place.archive.env, elsewhere: () => readdir(at('elsewhere')) };
}

it.each([[[]], [['--checksums']]])(
  'a link below the directory is not followed, the rest goes on (%s)',
  async (more) => {
    const { batch, elsewhere, names, read } = await setUp();
    const { exitCode, report } = await batch([A, B], ['--all', '-d', 'mirror', ...more]);
    expect(exitCode).toBe(3);
    const files = [...report.files].sort((a, b) => (`${a.accession_no}` < `${b.accession_no}` ? -1 : 1));
    expect(files).toMatchObject([
      {
        accession_no: A,
        result: 'failed',
        error: { code: 'local_io', message: expect.stringContaining('it is a link') },
      },
      { accession_no: B, result: 'downloaded' },
    ]);
    expect(await elsewhere()).toEqual([]);
    expect((await read(`real/${B}/b.htm`)).toString()).toBe('b');
    expect(await names()).toContain('mirror');
  },
);

it('nor for one file whose layout leads over it; a link that the user named is', async () => {
  const { filings, env, elsewhere } = await setUp();
  const layout = ['--layout', '{accession_no}/{file_name}'];
  const refused = await filings(['download', A, 'a.htm', '-d', 'mirror', ...layout], env);
  expect(refused).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('it is a link') });
  expect(await elsewhere()).toEqual([]);
  expect((await filings(['download', A, 'a.htm', '-d', `mirror/${A}`], env)).exitCode).toBe(0);
  expect(await elsewhere()).toEqual(['a.htm']);
});
