import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { head, nothingLeft, rangeStart, sendFile } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, until, workplace } from './program.ts';

// Proof 4 of a transfer that never lies: two runs into one directory at once.
const ROUNDS = proving ? 20 : 3;
const FILES: Readonly<Record<string, Buffer>> = {
  'small.htm': content(20_000),
  'large.xml': content(1_500_000),
  'other.txt': content(300),
};
const NAMES = Object.keys(FILES);
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScripted((socket, request) => {
    const name = new URL(request.path, 'http://h').searchParams.get('file_name') ?? '';
    sendFile(socket, request, FILES[name] ?? Buffer.from('none'), `"${name}"`);
  });
});
afterAll(() => server.close());

const timeout = 180_000 + ROUNDS * 10_000;

test.each(['skip', 'overwrite'])(
  `two runs at once, --if-exists %s, ${ROUNDS} rounds`,
  { timeout },
  async (ifExists) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const place = await workplace();
      const args = ['download', ACCESSION, ...NAMES, '--if-exists', ifExists];
      const runs = await Promise.all([1, 2].map(() => place.filings(args, serviceAt(server.url))));
      for (const { exitCode, stderr } of runs) expect(exitCode, stderr).toBe(0);
      expect((await place.names()).sort()).toEqual([...NAMES].sort());
      for (const name of NAMES) expect((await place.read(name)).equals(FILES[name] as Buffer)).toBe(true);
    }
  },
);

test('one of two that must not find the file there fails, and the file is right', async () => {
  const place = await workplace();
  const args = ['download', ACCESSION, 'large.xml', '--if-exists', 'error'];
  const runs = await Promise.all([1, 2, 3].map(() => place.filings(args, serviceAt(server.url))));
  expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 8, 8]);
  expect(await place.names()).toEqual(['large.xml']);
  expect((await place.read('large.xml')).equals(FILES['large.xml'] as Buffer)).toBe(true);
});

test('while one is killed again and again, the other completes', async () => {
  const LARGE = FILES['large.xml'] as Buffer;
  const HELD_BACK = LARGE.length - 100_000;
  let finish = () => {};
  let released = Promise.resolve();
  /** Sends all but the end, and that when the test says so; to whom nothing is missing, too: nobody ends before. */
  const paused = await startScripted(async (socket, request) => {
    const start = rangeStart(request) ?? 0;
    const range = { 'Content-Range': `bytes ${start}-${LARGE.length - 1}/${LARGE.length}` };
    const fields = { ETag: '"v1"', 'Content-Length': LARGE.length - start };
    if (start < LARGE.length) {
      socket.write(start === 0 ? head(200, fields) : head(206, { ...fields, ...range }));
      socket.write(LARGE.subarray(start, HELD_BACK));
    }
    await released;
    socket.write(start < LARGE.length ? LARGE.subarray(Math.max(start, HELD_BACK)) : nothingLeft(LARGE, '"v1"'));
  });
  onTestFinished(() => paused.close());
  const place = await workplace();
  const args = ['download', ACCESSION, 'large.xml', '--if-exists', 'overwrite'];
  for (let round = 0; round < (proving ? 20 : 4); round += 1) {
    released = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const before = paused.requests.length;
    const victim = place.start(args, serviceAt(paused.url));
    const other = place.start(args, serviceAt(paused.url));
    // Both are in the middle of it.
    await until(() => paused.requests.length >= before + 2);
    await sleep(Math.random() * 40);
    // Every other time they are near its end.
    if (round % 2 > 0) finish();
    victim.kill('SIGKILL');
    const { killedBy } = await victim.ended;
    if (round % 2 === 0) expect(killedBy).toBe('SIGKILL');
    finish();
    const { exitCode, stderr } = await other.ended;
    expect(exitCode, stderr).toBe(0);
    expect((await place.read('large.xml')).equals(LARGE)).toBe(true);
  }
  expect((await place.filings(args, serviceAt(paused.url))).exitCode).toBe(0);
  expect(await place.names()).toEqual(['large.xml']);
});
