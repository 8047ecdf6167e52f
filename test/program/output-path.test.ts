import { existsSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

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

test.skipIf(process.geteuid?.() !== 0)('another user’s leaves none behind: only root can make one to try', async () => {
  const place = await workplace();
  const path = join(place.path, 'theirs');
  await writeFile(path, 'old');
  await chmod(path, 0o666);
  await chown(path, 12345, 12345);
  expect((await place.filings([...DOWNLOAD, '-o', 'theirs'])).exitCode).toBe(0);
  const { mode, uid } = await stat(path);
  expect([mode & 0o777, uid]).toEqual([0o666 & ~process.umask(), 0]);
});

test.each<[string[], RegExp]>([
  [['-o', 'no/such/file'], /no\/such: cannot write: the directory is not there/],
  [['-o', '/proc/nope/file'], /\/proc\/nope/],
  [['-d', '/proc/nope'], /\/proc\/nope/],
  [['-d', '/proc/nope/deeper'], /\/proc\/nope/],
  [['-d', '/dev/null'], /\/dev\/null/],
  [['-d', '/dev/null/deeper'], /\/dev\/null/],
  [['-o', 'x'.repeat(300)], /too long/],
])('where nothing can be written: %s', async (where, told) => {
  const place = await workplace();
  const { exitCode, stderr } = await place.filings([...DOWNLOAD, ...where]);
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(told);
  expect(stderr).toContain('hint:');
  expect(await place.names()).toEqual([]);
});

test.each([['--if-exists=overwrite'], ['--output=primary.htm']])(
  'a link under the final name is replaced, never followed (%s)',
  async (how) => {
    const place = await workplace();
    await writeFile(join(place.home, 'precious'), 'old');
    await symlink('../precious', join(place.path, 'primary.htm'));
    expect((await place.filings([...DOWNLOAD, how])).exitCode).toBe(0);
    expect((await lstat(join(place.path, 'primary.htm'))).isFile()).toBe(true);
    expect(await place.read('primary.htm')).toEqual(await readFile(SAMPLE));
    expect(await readFile(join(place.home, 'precious'), 'utf8')).toBe('old');
  },
);

test('a directory that is removed while the file comes', async () => {
  const place = await workplace();
  const gone = join(place.path, 'gone');
  await mkdir(gone);
  const file = Buffer.alloc(3_000_000);
  const server = await startScripted(async (socket) => {
    socket.write(head(200, { 'Content-Length': file.length, ETag: '"v1"' }));
    socket.write(file.subarray(0, -1));
    const hasPart = () => readdir(gone).then(({ length }) => length > 1);
    while (existsSync(gone) && !(await hasPart())) await new Promise((resolve) => setTimeout(resolve, 5));
    await rm(gone, { recursive: true, force: true });
    socket.write(file.subarray(-1));
  });
  onTestFinished(() => server.close());
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a', '-o', 'gone/a'], serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/directory is not there/);
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
