import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { argumentsFor, FILE, NAME } from '../cli/killed-download.ts';
import { serviceAt, test, type Workplace } from '../cli/program.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type ScriptedServer, scripted, startScripted } from '../servers/scripted.ts';

// A disk reports an error, a system call fails, or the program is killed at a call (strace). The final name is then
// absent, old or complete.
const GET = argumentsFor(false);
const OVER = argumentsFor(true);
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
 * Runs the program under strace, and fails some calls: `fsync:error=EIO:when=2`. Returns its result with the log of these
 * calls. One thread makes all large writes and all flushes, because strace counts by thread.
 */
async function traced({ shell, home }: Workplace, faults: string, args: readonly string[], service = env) {
  const log = join(home, 'calls');
  const [calls = ''] = faults.split(':');
  const options = `-f -y -s 200 -o "${log}" -e trace=${calls} ${faults === calls ? '' : `-e inject=${faults}`}`;
  const ended = await shell(`strace ${options} $FILINGS ${args.join(' ')}`, { ...service, UV_THREADPOOL_SIZE: '1' });
  return { ...ended, log: await readFile(log, 'utf8') };
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
  const hook = await place.write('../hook.cjs', LINK_LOSES);
  const { exitCode, stderr } = await place.filings(GET, { ...env, NODE_OPTIONS: `--require "${hook}"` });
  expect([exitCode, await place.names(), `${await place.read(NAME)}`], stderr).toEqual([8, [NAME], 'another']);
});

describe('SIGKILL', () => {
  /** Kills the program before a call takes effect. strace ends with the signal of the program. */
  async function kill(place: Workplace, call: string, args: readonly string[], service = env): Promise<void> {
    const { killedBy, stderr } = await traced(place, `${call}:error=EIO:signal=KILL:when=1`, args, service);
    expect(killedBy, stderr).toBe('SIGKILL');
  }

  test.for([
    { call: 'rename', left: /^\.primary\.htm\.filings-resume$/, isResumed: true },
    { call: 'ftruncate', left: /^\.primary\.htm\.\w{8}\.filings-part$/, isResumed: false },
  ])('at $call leaves no torn file while a kept part is claimed', async ({ call, left, isResumed }, { place }) => {
    const cutFirst = await scripted((socket, request) => {
      if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
      socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
      socket.end(FILE.subarray(0, 3_000_000));
    });
    const service = serviceAt(cutFirst.url);
    expect((await place.filings([...GET, '--retries', '0'], service)).exitCode).toBe(9);
    await kill(place, call, GET, service);
    expect(await place.names()).toEqual([expect.stringMatching(left)]);
    const { exitCode, stderr } = await place.filings(GET, service);
    expect([exitCode, stderr.includes('resumed')], stderr).toEqual([0, isResumed]);
    expect((await place.read(NAME)).equals(FILE)).toBe(true);
  });
});

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
