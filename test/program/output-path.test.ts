import { rmSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { interruptionError } from '../../src/world.ts';
import { head, sendFile } from '../servers/answers.ts';
import { content } from '../service/transfer-fixture.ts';
import { openFifo } from './place.ts';
import { ACCESSION, asking, linesOf, test } from './run.ts';

const SAMPLE = join(import.meta.dirname, '../../samples', ACCESSION, 'primary.htm');
const DOWNLOAD = ['--sandbox', 'download', ACCESSION, 'primary.htm'] as const;

// The permissions are those that the shell's `>` would leave, but the file is replaced atomically.
test('--output keeps the permissions of the file that it replaces', async ({ place: { filings, read, write } }) => {
  const path = await write('mine', 'old', 0o640);
  expect((await filings([...DOWNLOAD, '-o', 'mine'])).exitCode).toBe(0);
  expect(await read('mine')).toEqual(await readFile(SAMPLE));
  expect((await stat(path)).mode & 0o777).toBe(0o640);
});

test.skipIf(process.geteuid?.() !== 0).for([
  { whose: 'user', uid: 12345 },
  { whose: 'group', uid: 0 },
])('a replaced file of another $whose gets default permissions', async ({ uid }, { place }) => {
  const path = await place.write('theirs', 'old', 0o666);
  await chown(path, uid, 12345);
  expect((await place.filings([...DOWNLOAD, '-o', 'theirs'])).exitCode).toBe(0);
  const { mode, ...owner } = await stat(path);
  expect([mode & 0o777, owner.uid, owner.gid]).toEqual([0o666 & ~process.umask(), 0, process.getegid?.()]);
});

test.for`
  where                             | message
  ${['-o', 'no/such/file']}         | ${/no\/such: cannot write: no such directory\n +hint:/}
  ${['-o', '/proc/nope/file']}      | ${/\/proc\/nope.*\n +hint:/}
  ${['-o', 'x'.repeat(300)]}        | ${/refuses the name, which has 300 bytes\n +hint:/}
  ${['-d', '/proc/nope/deeper']}    | ${/\/proc\/nope.*\n +hint:/}
  ${['-d', '/dev/null']}            | ${/\/dev\/null.*\n +hint:/}
  ${['--report', 'no/such/report']} | ${/^filings: --report \/\S+\/no\/such\/report: cannot write: .*\n +hint: .*--report/}
  ${['--report', '/proc/nope']}     | ${/^filings: --report \/proc\/nope: cannot write: .*\n +hint: .*--report/}
`('$where exits with 8, a hint and no new file', async ({ where, message }, { place: { filings, names } }) => {
  const { exitCode, stderr } = await filings([...DOWNLOAD, ...(where as string[])]);
  expect([exitCode, stderr]).toEqual([8, expect.stringMatching(message)]);
  expect(await names()).toEqual([]);
});

test.for([
  ['the failed list is written', 'failed', 0],
  ['a failed list that cannot be written either is another error', 'gone/failed', 1],
] as const)('a report that cannot be written stops the run without a part, and %s', async ([, failed, errors]) => {
  const file = content(1_000_000);
  // Three bodies never end. The small one does.
  const { at, filings, names, read } = await asking((socket, request) => {
    if (request.path.includes('small')) return sendFile(socket, request, file.subarray(0, 1000), '"v1"');
    rmSync(at('gone'), { recursive: true, force: true });
    socket.write(head(200, { 'Content-Length': 3_000_000 }));
    socket.write(file);
  });
  await mkdir(at('gone'));
  const args = ['download', ACCESSION, 'big1', 'big2', 'big3', 'small', '--report', '/dev/full', '--failed', failed];
  const { exitCode, stderr } = await filings(args);
  expect([exitCode, await names()], stderr).toEqual([8, errors > 0 ? ['small'] : ['failed', 'small']]);
  expect([stderr.match(/disk is full/g)?.length, stderr.match(/no such directory/g)?.length ?? 0]).toEqual([1, errors]);
  if (errors === 0)
    expect(linesOf(await read('failed')).sort()).toEqual(
      ['big1', 'big2', 'big3'].map((name) => `${ACCESSION} ${name}`),
    );
});

test('a report that nobody reads is given up after a signal, and the failed list is written', async () => {
  const stop = new AbortController();
  const { at, filings, read } = await asking((socket) => {
    socket.write(head(200, { 'Content-Length': 9 }));
    setImmediate(() => stop.abort(interruptionError('SIGTERM')));
  });
  await (await openFifo(at('fifo'))).write(Buffer.alloc(65_536));
  const args = ['download', ACCESSION, 'a', 'b', '-j', '1', '--report', 'fifo', '--failed', 'failed'];
  const { exitCode, stderr } = await filings(args, {}, { interrupt: stop.signal });
  expect(exitCode, stderr).toBe(143);
  expect(`${await read('failed')}`).toMatch(/^\S+\sa\n$/);
});

test.for(['a.filings-part', '.a.htm.filings-resume'])('-o %s is refused', async (name, { place }) => {
  const { exitCode, stderr } = await place.filings([...DOWNLOAD, '-o', name]);
  expect([exitCode, await place.names()], stderr).toEqual([2, []]);
});

test('-d is created when the run begins, and a directory of the layout only for a file', async () => {
  const { at, filings, names } = await asking((socket) => void socket.write(head(404, { 'Content-Length': 0 })));
  const args = ['download', ACCESSION, 'a', '-d', 'new/dir', '--layout', '{accession_no}/{file_name}'];
  expect([(await filings([...args, '-n'])).exitCode, await names()]).toEqual([0, []]);
  expect([(await filings(args)).exitCode, await names()]).toEqual([5, ['new']]);
  expect(await readdir(at('new/dir'))).toEqual([]);
});
