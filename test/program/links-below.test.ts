import { mkdir, readdir, symlink } from 'node:fs/promises';
import { test as base, expect } from 'vitest';
import { accession } from '../servers/archive.ts';
import { archivePlace } from './batch.ts';

const [A, B] = [accession(1), accession(2)];

/** A workplace with two filings. The directory of the first one is a link, and so is the mirror above it. */
const test = base.extend('place', async () => {
  const place = await archivePlace({ [A]: { 'a.htm': 'a' }, [B]: { 'b.htm': 'b' } });
  const { at } = place;
  for (const name of ['real', 'elsewhere']) await mkdir(at(name));
  await symlink('real', at('mirror'));
  await symlink('../elsewhere', at(`real/${A}`));
  return { ...place, elsewhere: () => readdir(at('elsewhere')) };
});

test.for([[], ['--checksums']])('no link below the directory is followed: %j', async (more, { place }) => {
  const { exitCode, report } = await place.batch([A, B], ['--all', '-d', 'mirror', '-j', '1', ...more]);
  expect(exitCode).toBe(3);
  expect(report.files).toMatchObject([
    { accession_no: A, result: 'failed', error: { code: 'local_io', message: expect.stringContaining('link') } },
    { accession_no: B, result: 'downloaded' },
  ]);
  expect([await place.elsewhere(), `${await place.read(`real/${B}/b.htm`)}`]).toEqual([[], 'b']);
  expect(await place.names()).toContain('mirror');
});

test('a link that the user names is followed, but not one that the layout leads over', async ({ place }) => {
  const layout = ['--layout', '{accession_no}/{file_name}'];
  const refused = await place.batch(undefined, [A, 'a.htm', '-d', 'mirror', ...layout]);
  expect([refused.exitCode, await place.elsewhere()]).toEqual([8, []]);
  expect((await place.batch(undefined, [A, 'a.htm', '-d', `mirror/${A}`])).exitCode).toBe(0);
  expect(await place.elsewhere()).toEqual(['a.htm']);
});

test('a file or a dangling link in the place of the directory is an error before any request', async ({ place }) => {
  await place.write('file', '');
  await symlink('nowhere', place.at('dangling'));
  for (const [name, reason] of [
    ['file', 'it is not a directory'],
    ['dangling', 'the symbolic link leads nowhere'],
  ] as const) {
    const { exitCode, stderr } = await place.batch([A, B], ['--all', '-d', name]);
    expect([exitCode, stderr]).toEqual([8, expect.stringContaining(`${name}: cannot write: ${reason}\n`)]);
  }
  expect(place.archive.requests).toEqual([]);
});
