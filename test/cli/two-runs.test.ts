import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendFile } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, workplace } from './program.ts';

// Two runs download into one directory at the same time.
const ROUNDS = proving ? 20 : 1;
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
  `two runs at once leave complete files with --if-exists %s, in ${ROUNDS} rounds`,
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

test('one of three runs at once with --if-exists error succeeds, and the file is complete', async () => {
  const place = await workplace();
  const args = ['download', ACCESSION, 'large.xml', '--if-exists', 'error'];
  const runs = await Promise.all([1, 2, 3].map(() => place.filings(args, serviceAt(server.url))));
  expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 8, 8]);
  expect(await place.names()).toEqual(['large.xml']);
  expect((await place.read('large.xml')).equals(FILES['large.xml'] as Buffer)).toBe(true);
});
