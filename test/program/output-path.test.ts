import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { first, framed, head, whole } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
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

test('a directory that is removed while the file comes', async () => {
  const place = await workplace();
  const gone = join(place.path, 'gone');
  await mkdir(gone);
  const file = Buffer.alloc(3_000_000);
  const server = await scripted(async (socket) => {
    socket.write(head(200, { 'Content-Length': file.length, ETag: '"v1"' }));
    socket.write(file.subarray(0, -1));
    const hasPart = () => readdir(gone).then(({ length }) => length > 1);
    while (existsSync(gone) && !(await hasPart())) await new Promise((resolve) => setTimeout(resolve, 5));
    await rm(gone, { recursive: true, force: true });
    socket.write(file.subarray(-1));
  });
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a', '-o', 'gone/a'], serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/directory is not there/);
});

test.each<[then: string, args: string[], status: number, out: Buffer]>([
  ['it is another file by now: that one is out', [], 0, Buffer.alloc(2000, 'new')],
  ['there is no other try: nothing is out', ['--retries', '0'], 9, Buffer.alloc(0)],
])('through the spool, cut in the middle, and %s', async (_, args, status, out) => {
  const cut = first(framed(Buffer.alloc(3000, 'old'), 'length', { ETag: '"v1"' }).upTo(1500), whole(out, '"v2"'));
  const { url } = await scripted(cut);
  const { filings } = await workplace();
  // Whatever is tried again is tried at once.
  const given = { sleep: (ms: number, signal: AbortSignal) => sleep(ms < 3000 ? 0 : ms, signal) };
  const command = ['download', ACCESSION, 'a', '-o', '-', '--spool', ...args];
  const { exitCode, stdout, stderr } = await filings(command, serviceAt(url), given);
  expect([exitCode, stdout], stderr).toEqual([status, out]);
});
