import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, asking, workplace } from './run.ts';

const SAMPLE = join(import.meta.dirname, '../../samples', ACCESSION, 'primary.htm');
const DOWNLOAD = ['--sandbox', 'download', ACCESSION, 'primary.htm'] as const;

// The permissions are those that the shell's `>` would leave, but the file is replaced atomically.
test('--output keeps the permissions of the file that it replaces', async () => {
  const { filings, read, write } = await workplace();
  const path = await write('mine', 'old', 0o640);
  expect((await filings([...DOWNLOAD, '-o', 'mine'])).exitCode).toBe(0);
  expect(await read('mine')).toEqual(await readFile(SAMPLE));
  expect((await stat(path)).mode & 0o777).toBe(0o640);
});

test.skipIf(process.geteuid?.() !== 0)('a replaced file of another user gets default permissions', async () => {
  const { filings, write } = await workplace();
  const path = await write('theirs', 'old', 0o666);
  await chown(path, 12345, 12345);
  expect((await filings([...DOWNLOAD, '-o', 'theirs'])).exitCode).toBe(0);
  const { mode, uid } = await stat(path);
  expect([mode & 0o777, uid]).toEqual([0o666 & ~process.umask(), 0]);
});

test.each<[string[], RegExp]>([
  [['-o', 'no/such/file'], /no\/such: cannot write: no such directory/],
  [['-o', '/proc/nope/file'], /\/proc\/nope/],
  [['-d', '/proc/nope'], /\/proc\/nope/],
  [['-d', '/proc/nope/deeper'], /\/proc\/nope/],
  [['-d', '/dev/null'], /\/dev\/null/],
  [['-d', '/dev/null/deeper'], /\/dev\/null/],
  [['-o', 'x'.repeat(300)], /too long/],
  [['--report', 'no/such/report'], /^filings: --report \/\S+\/no\/such\/report: cannot write: no such directory/],
  [['--report', '/proc/nope'], /^filings: --report \/proc\/nope: cannot write: no such directory/],
])('exits with 8, a hint and no new file: %s', async (where, message) => {
  const place = await workplace();
  const { exitCode, stderr } = await place.filings([...DOWNLOAD, ...where]);
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(message);
  expect(stderr).toMatch(where[0] === '--report' ? /hint: .*--report/ : 'hint:');
  expect(await place.names()).toEqual([]);
});

test('exits with 8 if the directory is removed during the download', async () => {
  const file = Buffer.alloc(3_000_000);
  const { at, filings } = await asking(async (socket) => {
    socket.write(head(200, { 'Content-Length': file.length, ETag: '"v1"' }));
    socket.write(file.subarray(0, -1));
    const hasPart = () => readdir(gone).then(({ length }) => length > 0);
    while (existsSync(gone) && !(await hasPart())) await new Promise((resolve) => setTimeout(resolve, 5));
    await rm(gone, { recursive: true, force: true });
    socket.write(file.subarray(-1));
  });
  const gone = at('gone');
  await mkdir(gone);
  const { exitCode, stderr } = await filings(['download', ACCESSION, 'a', '-o', 'gone/a']);
  expect([exitCode, stderr]).toEqual([8, expect.stringMatching(/no such directory/)]);
});

test('a report that cannot be written stops the run, and no part remains', async () => {
  const file = content(1_000_000);
  // Three bodies never end. The small one does.
  const { filings, names } = await asking((socket, request) => {
    if (request.path.includes('small')) return sendFile(socket, request, file.subarray(0, 1000), '"v1"');
    socket.write(head(200, { 'Content-Length': 3_000_000 }));
    socket.write(file);
  });
  const args = ['download', ACCESSION, 'big1', 'big2', 'big3', 'small', '--report', '/dev/full'];
  const { exitCode, stderr } = await filings(args);
  expect(exitCode, stderr).toBe(8);
  expect(await names()).toEqual(['small']);
});

test.each(['a.filings-part', '.a.htm.filings-resume'])(
  '-o %s is refused, because kept parts are called so',
  async (name) => {
    const { filings, names } = await workplace();
    const { exitCode, stderr } = await filings([...DOWNLOAD, '-o', name]);
    expect([exitCode, await names()], stderr).toEqual([2, []]);
  },
);

test('-d is created when the run begins, and a directory of the layout only for a file', async () => {
  const { at, filings, names } = await asking((socket) => void socket.write(head(404, { 'Content-Length': 0 })));
  const args = ['download', ACCESSION, 'a', '-d', 'new/dir', '--layout', '{accession_no}/{file_name}'];
  expect((await filings([...args, '-n'])).exitCode).toBe(0);
  expect(await names()).toEqual([]);
  expect((await filings(args)).exitCode).toBe(5);
  expect(await names()).toEqual(['new']);
  expect(await readdir(at('new/dir'))).toEqual([]);
});
