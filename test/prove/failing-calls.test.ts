import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCESSION, BIN, NODE, serviceAt, workplace } from '../cli/program.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { oneThread, traced } from './traced.ts';

// Each write takes 1 MiB at the most, and some more: there are at least four.
const FILE = content(4_500_000);
const OLD = Buffer.from('the old file');
const NAME = 'primary.htm';
const GET = ['download', ACCESSION, NAME];
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScripted((socket, request) => sendFile(socket, request, FILE, '"v1"'));
});
afterAll(() => server.close());

const FAULTS: [call: string, error: string, when: number, words: RegExp][] = [
  ['pwritev,pwrite64', 'ENOSPC', 2, /full/],
  ['fsync', 'EIO', 1, /disk/],
  ['fsync', 'EIO', 2, /disk/],
  ['rename', 'EROFS', 1, /read-only/],
  ['pwritev,pwrite64', 'EDQUOT', 2, /quota/],
  ['pwritev,pwrite64', 'EIO', 2, /disk/],
  ['fsync', 'ENOSPC', 1, /full/],
  ['rename', 'EIO', 1, /disk/],
];

describe('a system call that fails (strace)', () => {
  test.each(FAULTS)(
    '%s with %s, the time %i: exit 8, the old file stays, nothing else',
    async (call, error, when, words) => {
      const place = await workplace();
      await writeFile(join(place.path, NAME), OLD);
      const options = `-e trace=${call} -e inject=${call}:error=${error}:when=${when}`;
      const args = [...GET, '--if-exists', 'overwrite'];
      const { exitCode, stderr } = await traced(place, options, args, serviceAt(server.url));
      expect(exitCode, stderr).toBe(8);
      expect(stderr).toMatch(words);
      expect(await place.names()).toEqual([NAME]);
      // The directory's own flush fails after the rename: then the new file is there, and not reported as saved.
      const found = await place.read(NAME);
      expect(found.equals(call === 'fsync' && when === 2 ? FILE : OLD)).toBe(true);
    },
  );

  test.each(['EPERM', 'EOPNOTSUPP', 'EMLINK'])('link with %s: without links it goes, too', async (error) => {
    const place = await workplace();
    const options = `-e trace=link -e inject=link:error=${error}`;
    const { exitCode, stderr } = await traced(place, options, GET, serviceAt(server.url));
    expect(exitCode, stderr).toBe(0);
    expect((await place.read(NAME)).equals(FILE)).toBe(true);
    expect(await place.names()).toEqual([NAME]);
  });
});

test('a flush in the background that fails is not forgotten: exit 8, the old file stays', async () => {
  // The first of them begins after 128 MB.
  const block = Buffer.alloc(1 << 20, 'x');
  const large = await startScripted((socket) => {
    socket.write(head(200, { 'Content-Length': 140 * block.length, ETag: '"v1"' }));
    for (let sent = 0; sent < 140; sent += 1) socket.write(block);
  });
  const place = await workplace();
  await writeFile(join(place.path, NAME), OLD);
  const options = '-f -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO';
  const line = `strace ${options} ${NODE} ${BIN} ${GET.join(' ')} --if-exists overwrite`;
  const { exitCode, stderr } = await place.shell(line, serviceAt(large.url));
  await large.close();
  expect(exitCode, stderr).toBe(8);
  expect(await place.names()).toEqual([NAME]);
  expect(await place.read(NAME)).toEqual(OLD);
});

test('a write that takes less than asked is gone on with', async () => {
  // retval= would lie about what was written: a limit on the file's size makes real short writes.
  const place = await workplace();
  const line = `trap '' XFSZ; ulimit -f 1000; exec $FILINGS ${GET.join(' ')}`;
  const { exitCode, stderr } = await place.shell(line, { ...serviceAt(server.url), ...(await oneThread(place)) });
  expect([exitCode, await place.names()], stderr).toEqual([8, []]);
});
