import { mkdir, readdir, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
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

describe('a dry run fails as the run does', () => {
  it.each([[[]], [['--checksums']], [['--if-exists', 'overwrite']], [['--if-exists', 'error']]])(
    'for the files below a link, whether or not they exist behind it (%j)',
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

  it('for one file below a link, with its exit status', async () => {
    const { filings, env } = await setUp();
    const args = ['download', A, 'a.htm', '-d', 'mirror', '--layout', '{accession_no}/{file_name}', '-n'];
    expect(await filings(args, env)).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('it is a link') });
  });

  it.each([
    ['a file', 'file'],
    ['a link that leads nowhere', 'dangling'],
  ])('with %s in place of the directory', async (_, name) => {
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
