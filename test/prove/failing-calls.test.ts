import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { ACCESSION, serviceAt, test, type Workplace } from '../cli/program.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type ScriptedServer, scripted, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';

// A disk reports an error, a system call fails, or the program is killed at a call (strace). The final name is then
// absent, old or complete.
const FILE = content(4_500_000);
const NAME = 'primary.htm';
const GET = ['download', ACCESSION, NAME];
const OVER = [...GET, '--if-exists', 'overwrite'];
let server: ScriptedServer;
let env: Record<string, string>;

beforeAll(async () => {
  server = await startScripted((socket, request) => sendFile(socket, request, FILE, '"v1"'));
  env = serviceAt(server.url);
});
afterAll(() => server.close());

/** Another program is faster than link, which then fails as without hard links. */
const LINK_LOSES = `const fs = require('node:fs');
fs.linkSync = (_, to) => {
  fs.writeFileSync(to, 'another');
  throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
};`;

/**
 * Runs the program under strace, and fails some calls: `fsync:error=EIO:when=2`. One thread makes all large writes and
 * all flushes, because strace counts by thread.
 */
function traced({ shell }: Workplace, faults: string, args: readonly string[], service = env) {
  const options = `-f -o /dev/null -e trace=${faults.split(':')[0]} -e inject=${faults}`;
  return shell(`strace ${options} $FILINGS ${args.join(' ')}`, { ...service, UV_THREADPOOL_SIZE: '1' });
}

test.for([
  { disk: 'full', mount: 'mount -t tmpfs -o size=1m none disk' },
  { disk: 'read-only', mount: 'mount --bind disk disk && mount -o remount,bind,ro disk' },
])('exits with 8 and keeps the old file on a disk that is $disk', async ({ disk, mount }, { place }) => {
  await place.write(join('disk', NAME), 'old');
  const script = `${mount} || exit 99; [ -e disk/${NAME} ] || printf old > disk/${NAME}
    $FILINGS ${OVER.join(' ')} -d disk; code=$?; ls -A disk; cat disk/${NAME}; exit $code`;
  await place.write('inside.sh', `IFS=$'\\n'\n${script}`);
  const { exitCode, stderr, stdout } = await place.shell('unshare -Urm bash inside.sh', env);
  expect([exitCode, stderr]).toEqual([8, expect.stringContaining(disk)]);
  expect(stdout.toString()).toBe(`${NAME}\nold`);
});

test('does not replace a file that appears just before link fails', async ({ place }) => {
  const { exitCode, stderr } = await place.filings(GET, { ...env, ...(await place.hook(LINK_LOSES)) });
  expect([exitCode, await place.names(), `${await place.read(NAME)}`], stderr).toEqual([8, [NAME], 'another']);
});

test.for([
  { call: 'rename', left: /^\.primary\.htm\.filings-resume$/, isResumed: true },
  { call: 'ftruncate', left: /^\.primary\.htm\.\w{8}\.filings-part$/, isResumed: false },
])(
  'SIGKILL at $call, while a kept part is claimed, leaves no torn file',
  async ({ call, left, isResumed }, { place }) => {
    const cutFirst = await scripted((socket, request) => {
      if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
      socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
      socket.end(FILE.subarray(0, 3_000_000));
    });
    const service = serviceAt(cutFirst.url);
    expect((await place.filings([...GET, '--retries', '0'], service)).exitCode).toBe(9);
    // strace ends with the signal of the program.
    const { killedBy } = await traced(place, `${call}:error=EIO:signal=KILL:when=1`, GET, service);
    expect(killedBy).toBe('SIGKILL');
    expect(await place.names()).toEqual([expect.stringMatching(left)]);
    const { exitCode, stderr } = await place.filings(GET, service);
    expect([exitCode, stderr.includes('resumed')], stderr).toEqual([0, isResumed]);
    expect((await place.read(NAME)).equals(FILE)).toBe(true);
  },
);

test('a config file is written although its file system cannot flush directories', async ({ place }) => {
  const line = 'config set jobs 2 --config c.json'.split(' ');
  const { exitCode, stderr } = await traced(place, 'fsync:error=EINVAL:when=2+', line);
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse((await place.read('c.json')).toString())).toMatchObject({ jobs: 2 });
});

test('a key is not kept if its entry cannot be flushed', async ({ place }) => {
  const line = 'token keygen --alg HS256 --out key'.split(' ');
  const { exitCode, stderr } = await traced(place, 'fsync:error=EIO:when=2', line);
  expect(exitCode, stderr).toBe(8);
  expect(await place.names()).toEqual([]);
});
