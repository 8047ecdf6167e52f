import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACCESSION, workplace } from './run.ts';

const SAMPLE = join(import.meta.dirname, '../../samples', ACCESSION, 'primary.htm');
const DOWNLOAD = ['--sandbox', 'download', ACCESSION, 'primary.htm'] as const;

// What the shell's `>` would do, but whole or not at all.
test('a file that is replaced keeps its permissions', async () => {
  const place = await workplace();
  await writeFile(join(place.path, 'mine'), 'old');
  await chmod(join(place.path, 'mine'), 0o640);
  expect((await place.filings([...DOWNLOAD, '-o', 'mine'])).exitCode).toBe(0);
  expect(await place.read('mine')).toEqual(await readFile(SAMPLE));
  expect((await stat(join(place.path, 'mine'))).mode & 0o777).toBe(0o640);
});

test.skipIf(process.geteuid?.() !== 0)(
  'over another user’s file, permissions are those of a new file: only root can make one to try',
  async () => {
    const place = await workplace();
    const path = join(place.path, 'theirs');
    await writeFile(path, 'old');
    await chmod(path, 0o666);
    await chown(path, 12345, 12345);
    const { exitCode, stderr } = await place.filings([
      'download',
      ACCESSION,
      'primary.htm',
      '-o',
      'theirs',
      '--sandbox',
    ]);
    expect(exitCode, stderr).toBe(0);
    const { mode, uid } = await stat(path);
    expect([mode & 0o777, uid]).toEqual([0o666 & ~process.umask(), 0]);
  },
);

test.each<[string, string, number, RegExp]>([
  ['a directory that is missing is not made', 'no/such/file', 8, /no\/such: cannot write: the directory is not there/],
])('-o: %s', async (_, output, exit, told) => {
  const place = await workplace();
  await mkdir(join(place.path, 'folder'));
  const { exitCode, stderr } = await place.filings([...DOWNLOAD, `--output=${output}`]);
  expect(exitCode, stderr).toBe(exit);
  expect(stderr).toMatch(told);
  expect(stderr).toContain('hint:');
  expect(await place.names()).toEqual(['folder']);
});

test('-d: what is missing is made', async () => {
  const place = await workplace();
  expect((await place.filings([...DOWNLOAD, '-d', 'a/b/c'])).exitCode).toBe(0);
  expect(await place.read('a/b/c/primary.htm')).toEqual(await readFile(SAMPLE));
});

test.each(['-', '/dev/stdout', '/dev/fd/1'])('stdout has one user, by whatever name: -o %s', async (output) => {
  const place = await workplace();
  const { exitCode, stdout, stderr } = await place.filings([...DOWNLOAD, '-o', output, '--report', '-']);
  expect([exitCode, stdout.length]).toEqual([2, 0]);
  expect(stderr).toContain('stdout has one user');
});
