import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCESSION, BIN, NODE, serviceAt, type Workplace, workplace } from '../cli/program.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { oneThread, traced } from './traced.ts';

// A system call fails, or the program is killed at it (strace): the final name is absent, old, or whole.
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

const arguments_ = (old: boolean) => (old ? [...GET, '--if-exists', 'overwrite'] : GET);

async function placeOf(old: boolean): Promise<Workplace> {
  const place = await workplace();
  if (old) await writeFile(join(place.path, NAME), OLD);
  return place;
}

test.each<[call: string, error: string, when: number, words: RegExp]>([
  ['pwritev,pwrite64', 'ENOSPC', 2, /full/],
  ['pwritev,pwrite64', 'EDQUOT', 2, /quota/],
  ['pwritev,pwrite64', 'EIO', 2, /disk/],
  ['fsync', 'EIO', 1, /disk/],
  ['fsync', 'EIO', 2, /disk/],
  ['fsync', 'ENOSPC', 1, /full/],
  ['rename', 'EROFS', 1, /read-only/],
  ['rename', 'EIO', 1, /disk/],
])('%s fails with %s, the time %i: exit 8, the old file stays, nothing else', async (call, error, when, words) => {
  const place = await placeOf(true);
  const options = `-e trace=${call} -e inject=${call}:error=${error}:when=${when}`;
  const { exitCode, stderr } = await traced(place, options, arguments_(true), serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(words);
  expect(await place.names()).toEqual([NAME]);
  // The directory's own flush fails after the rename: then the new file is there, and not reported.
  const found = await place.read(NAME);
  expect(found.equals(call === 'fsync' && when === 2 ? FILE : OLD)).toBe(true);
});

test.each(['EPERM', 'EOPNOTSUPP', 'EMLINK'])('link fails with %s: without links it is named, too', async (error) => {
  const place = await workplace();
  const options = `-e trace=link -e inject=link:error=${error}`;
  const { exitCode, stderr } = await traced(place, options, GET, serviceAt(server.url));
  expect(exitCode, stderr).toBe(0);
  expect((await place.read(NAME)).equals(FILE)).toBe(true);
  expect(await place.names()).toEqual([NAME]);
});

test('a flush in the background that fails is not forgotten: exit 8, the old file stays', async () => {
  // The first of them begins after 128 MB.
  const block = Buffer.alloc(1 << 20, 'x');
  const large = await startScripted((socket) => {
    socket.write(head(200, { 'Content-Length': 140 * block.length, ETag: '"v1"' }));
    for (let sent = 0; sent < 140; sent += 1) socket.write(block);
  });
  const place = await placeOf(true);
  const options = '-f -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO';
  const line = `strace ${options} ${NODE} ${BIN} ${arguments_(true).join(' ')}`;
  const { exitCode, stderr } = await place.shell(line, serviceAt(large.url));
  await large.close();
  expect(exitCode, stderr).toBe(8);
  expect(await place.names()).toEqual([NAME]);
  expect(await place.read(NAME)).toEqual(OLD);
});

test('a write that takes less than asked is completed by another', async () => {
  // retval= would lie about what was written: a limit on the file's size makes real short writes.
  const place = await workplace();
  const line = `trap '' XFSZ; ulimit -f 1000; exec $FILINGS ${GET.join(' ')}`;
  const { exitCode, stderr } = await place.shell(line, { ...serviceAt(server.url), ...(await oneThread(place)) });
  expect([exitCode, await place.names()], stderr).toEqual([8, []]);
});

/** Before a call takes effect, and behind it. */
const [BEFORE, BEHIND] = ['error=EIO:signal=KILL', 'signal=KILL'];

async function kill(place: Workplace, call: string, moment: string, when: number, old: boolean): Promise<void> {
  const options = `-e trace=${call} -e inject=${call}:${moment}:when=${when}`;
  // strace ends as the program did.
  const { killedBy, stderr } = await traced(place, options, arguments_(old), serviceAt(server.url));
  expect(killedBy, stderr).toBe('SIGKILL');
}

async function expectSoundThenComplete(place: Workplace, old: boolean): Promise<void> {
  if ((await place.names()).includes(NAME)) {
    const found = await place.read(NAME);
    expect(found.equals(FILE) || (old && found.equals(OLD))).toBe(true);
  } else expect(old).toBe(false);
  const { exitCode, stderr } = await place.filings(arguments_(old), serviceAt(server.url));
  expect(exitCode, stderr).toBe(0);
  expect((await place.read(NAME)).equals(FILE)).toBe(true);
  expect(await place.names()).toEqual([NAME]);
}

describe('SIGKILL', () => {
  // Flushed are the file, the directory. The record goes before the file is placed, the part's own name after it.
  test.each<[call: string, when: number, old: boolean]>([
    ['pwritev,pwrite64', 1, false],
    ['pwritev,pwrite64', 3, false],
    ['pwritev,pwrite64', 3, true],
    ['fsync', 1, false],
    ['fsync', 1, true],
    ['fsync', 2, false],
    ['fsync', 2, true],
    ['unlink', 1, false],
    ['unlink', 1, true],
    ['unlink', 2, false],
    ['link', 1, false],
    ['rename', 1, true],
  ])('at %s, the time %i, an old file there: %s', async (call, when, old) => {
    for (const moment of [BEFORE, BEHIND]) {
      const place = await placeOf(old);
      await kill(place, call, moment, when, old);
      await expectSoundThenComplete(place, old);
    }
  });

  test.each([BEFORE, BEHIND])('as a dead part is taken over (%s)', async (moment) => {
    const place = await workplace();
    await kill(place, 'pwritev,pwrite64', BEHIND, 3, false);
    await kill(place, 'rename', moment, 1, false);
    await expectSoundThenComplete(place, false);
  });
});

test.each([false, true])('record, bytes, flush, name, flush of the directory, report; an old file: %s', async (old) => {
  const place = await placeOf(old);
  const log = join(place.home, 'calls');
  const calls = 'trace=pwritev,pwrite64,write,writev,fsync,link,rename,unlink';
  const line = `strace -f -y -s 200 -o ${log} -e ${calls} ${NODE} ${BIN} ${arguments_(old).join(' ')}`;
  const { exitCode, stderr } = await place.shell(line, { ...serviceAt(server.url), ...(await oneThread(place)) });
  expect(exitCode, stderr).toBe(0);
  const steps = (await readFile(log, 'utf8')).split('\n').flatMap((call) => step(call, place.path));
  const placed = old ? ['place'] : ['place', 'drop part'];
  expect(steps.filter((name, at) => name !== steps[at - 1])).toEqual([
    'write record',
    'write part',
    'flush part',
    'drop record',
    ...placed,
    'flush directory',
    'tell',
  ]);
});

/** What a line of strace means for the file, if anything. */
function step(call: string, directory: string): string[] {
  const [, name = '', rest = ''] = /^\d+ +(\w+)\((.*)/.exec(call) ?? [];
  if (/^p?writev?(64)?$/.test(name)) {
    if (rest.startsWith('2<')) return rest.includes(`${NAME}: `) ? ['tell'] : [];
    return rest.includes('.part>') ? ['write part'] : rest.includes('.resume>') ? ['write record'] : [];
  }
  if (name === 'fsync') {
    if (rest.includes('.part>')) return ['flush part'];
    return rest.includes(`<${directory}>`) ? ['flush directory'] : [];
  }
  if (name === 'unlink') return [rest.includes('.resume"') ? 'drop record' : 'drop part'];
  return name === 'link' || name === 'rename' ? ['place'] : [];
}
