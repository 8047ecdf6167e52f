import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCESSION, serviceAt, type Workplace, workplace } from '../cli/program.ts';
import { sendFile } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';

// A disk that says no: exit 8, the old file stays, the part goes.
const FILE = content(3_000_000);
const NAME = 'primary.htm';
const get = `$FILINGS download ${ACCESSION} ${NAME} --if-exists overwrite`;
const isRoot = process.geteuid?.() === 0;
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScripted((socket, request) => sendFile(socket, request, FILE, '"v1"'));
});
afterAll(() => server.close());

const run = (place: Workplace, script: string, env = {}) => place.shell(script, { ...serviceAt(server.url), ...env });

test.each([
  ['full', 'mount -t tmpfs -o size=1m none disk', /the disk is full/],
  ['read-only', 'mount --bind disk disk && mount -o remount,bind,ro disk', /read-only/],
])('a disk that is %s, in a namespace of our own', async (_, mount, told) => {
  const place = await workplace();
  await mkdir(join(place.path, 'disk'));
  await writeFile(
    join(place.path, 'inside.sh'),
    `printf old > disk/${NAME}; ${mount} || exit 99; [ -e disk/${NAME} ] || printf old > disk/${NAME}
     ${get} -d disk; code=$?; ls -A disk; cat disk/${NAME}; exit $code`,
  );
  const { exitCode, stderr, stdout } = await run(place, 'FILINGS="$FILINGS" unshare -Urm bash inside.sh');
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(told);
  expect(stdout.toString()).toBe(`${NAME}\nold`);
});

test('a directory that may not be written', async () => {
  const place = await workplace();
  await mkdir(join(place.path, 'locked'));
  await chmod(join(place.path, 'locked'), 0o555);
  await chmod(place.home, 0o755);
  const as = isRoot ? 'setpriv --reuid=65534 --clear-groups' : '';
  for (const directory of ['locked', 'locked/deeper/still']) {
    const { exitCode, stderr } = await run(place, `${as} ${get} -d ${directory}`, { HOME: '/nonexistent' });
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/locked.*permission denied/);
  }
});

test('too few open files', async () => {
  const place = await workplace();
  await writeFile(join(place.path, NAME), 'old');
  const seen = new Set<number>();
  // Below some limit Node itself can't start; from some other on it is enough.
  for (let limit = 20; limit < 64 && !seen.has(0); limit += 1) {
    const { exitCode, stderr } = await run(place, `ulimit -n ${limit}; ${get}`);
    seen.add(exitCode);
    if (exitCode === 0) continue;
    if (stderr.startsWith('filings:')) expect(exitCode, stderr).toBe(8);
    expect([await place.names(), (await place.read(NAME)).toString()]).toEqual([[NAME], 'old']);
  }
  // At one limit at least it was the program that ran out.
  expect([...seen]).toEqual(expect.arrayContaining([8, 0]));
});
