import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendFile } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, until, workplace } from './program.ts';

// Proof 4 of a transfer that never lies: two runs into one directory at once.
const ROUNDS = Number(process.env.FILINGS_TWO_RUNS_ROUNDS ?? 10);
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

const timeout = 60_000 + ROUNDS * 2000;

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
  const place = await workplace();
  const args = ['download', ACCESSION, 'large.xml', '--if-exists', 'overwrite'];
  for (let round = 0; round < 5; round += 1) {
    const victim = place.start(args, serviceAt(server.url));
    const whole = place.filings(args, serviceAt(server.url));
    await until(async () => (await place.names()).some((name) => name.endsWith('.part')));
    await new Promise((resolve) => setTimeout(resolve, round * 15));
    victim.kill('SIGKILL');
    await victim.ended;
    expect((await whole).exitCode).toBe(0);
    expect((await place.read('large.xml')).equals(FILES['large.xml'] as Buffer)).toBe(true);
  }
  expect((await place.filings(args, serviceAt(server.url))).exitCode).toBe(0);
  expect(await place.names()).toEqual(['large.xml']);
});
