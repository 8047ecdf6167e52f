import { mkdir, readdir, symlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { accession } from '../servers/archive.ts';
import { archivePlace } from './batch.ts';

const [A, B] = [accession(1), accession(2)];

/** A workplace with two filings. The directory of the first one is a link, and so is the mirror above it. */
async function setUp() {
  const place = await archivePlace({ [A]: { 'a.htm': 'a' }, [B]: { 'b.htm': 'b' } });
  const { at } = place;
  for (const name of ['real', 'elsewhere']) await mkdir(at(name));
  await symlink('real', at('mirror'));
  await symlink('../elsewhere', at(`real/${A}`));
  return { ...place, env: place.archive.env, elsewhere: () => readdir(at('elsewhere')) };
}

test.each([[[]], [['--checksums']]])(
  'does not follow a link below the directory, and downloads the other files (%s)',
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

test('follows a link that the user names, but not one that the layout leads over', async () => {
  const { filings, env, elsewhere } = await setUp();
  const layout = ['--layout', '{accession_no}/{file_name}'];
  const refused = await filings(['download', A, 'a.htm', '-d', 'mirror', ...layout], env);
  expect(refused).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('it is a link') });
  expect(await elsewhere()).toEqual([]);
  expect((await filings(['download', A, 'a.htm', '-d', `mirror/${A}`], env)).exitCode).toBe(0);
  expect(await elsewhere()).toEqual(['a.htm']);
});

test.each([
  ['a file', 'file'],
  ['a link whose target does not exist', 'dangling'],
])('%s in the place of the directory is an error, and nothing is requested', async (_, name) => {
  const { at, batch, write, archive } = await setUp();
  await write('file', '');
  await symlink('nowhere', at('dangling'));
  expect((await batch([A, B], ['--all', '-d', name])).exitCode).toBe(8);
  expect(archive.requests).toEqual([]);
});
