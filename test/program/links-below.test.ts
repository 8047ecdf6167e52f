import { mkdir, readdir, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
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

it.each([[[]], [['--checksums']]])(
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

it('follows a link that the user names, but not one that the layout leads over', async () => {
  const { filings, env, elsewhere } = await setUp();
  const layout = ['--layout', '{accession_no}/{file_name}'];
  const refused = await filings(['download', A, 'a.htm', '-d', 'mirror', ...layout], env);
  expect(refused).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('it is a link') });
  expect(await elsewhere()).toEqual([]);
  expect((await filings(['download', A, 'a.htm', '-d', `mirror/${A}`], env)).exitCode).toBe(0);
  expect(await elsewhere()).toEqual(['a.htm']);
});

describe('a dry run fails as the run does', () => {
  it.each([[[]], [['--checksums']], [['--if-exists', 'overwrite']], [['--if-exists', 'error']]])(
    'for files below a link, whether or not they exist at its target (%j)',
    async (more) => {
      for (const existing of ['a.htm', 'other.htm']) {
        const { at, batch, elsewhere, write } = await setUp();
        await write(`elsewhere/${existing}`, 'a');
        const { exitCode, report } = await batch([A, B], ['--all', '-d', 'mirror', '-n', ...more]);
        expect([exitCode, ...report.files.map(({ result, error }) => [result, error?.code])].sort()).toEqual([
          3,
          ['failed', 'local_io'],
          ['planned', undefined],
        ]);
        expect(report.files.find(({ error }) => error)?.error?.message).toBe(
          `${at(`mirror/${A}`)}: cannot write there: it is a link`,
        );
        expect(await elsewhere()).toEqual([existing]);
      }
    },
  );

  it('for one file below a link, with exit status 8', async () => {
    const { filings, env } = await setUp();
    const args = ['download', A, 'a.htm', '-d', 'mirror', '--layout', '{accession_no}/{file_name}', '-n'];
    expect(await filings(args, env)).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('it is a link') });
  });

  it.each([
    ['a file', 'file'],
    ['a link whose target does not exist', 'dangling'],
  ])('if %s is in the place of the directory', async (_, name) => {
    const { at, batch, names, write } = await setUp();
    await write('file', '');
    await symlink('nowhere', at('dangling'));
    const before = await names();
    for (const more of [['-n'], []]) {
      expect((await batch([A, B], ['--all', '-d', name, ...more])).exitCode).toBe(8);
    }
    expect((await names()).sort()).toEqual([...before, 'report'].sort());
  });
});
