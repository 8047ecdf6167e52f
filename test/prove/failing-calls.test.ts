import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { argumentsFor, expectSoundThenComplete, FILE, NAME, OLD, placeOf } from '../cli/killed-download.ts';
import { serviceAt, type Workplace, workplace } from '../cli/program.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type ScriptedServer, scripted, startScripted } from '../servers/scripted.ts';
import { traced } from './traced.ts';

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

test.each([
  ['full', 'mount -t tmpfs -o size=1m none disk', /the disk is full/],
  ['read-only', 'mount --bind disk disk && mount -o remount,bind,ro disk', /read-only/],
])('exits with 8 and keeps the old file on a disk that is %s', async (_, mount, message) => {
  const place = await workplace();
  await mkdir(join(place.path, 'disk'));
  await writeFile(
    join(place.path, 'inside.sh'),
    `printf old > disk/${NAME}; ${mount} || exit 99; [ -e disk/${NAME} ] || printf old > disk/${NAME}
     $FILINGS ${OVER.join(' ')} -d disk; code=$?; ls -A disk; cat disk/${NAME}; exit $code`,
  );
  const { exitCode, stderr, stdout } = await place.shell('FILINGS="$FILINGS" unshare -Urm bash inside.sh', env);
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(message);
  expect(stdout.toString()).toBe(`${NAME}\nold`);
});

test.each(['locked', 'locked/deeper/still'])('exits with 8 if the directory %s is not writable', async (directory) => {
  const place = await workplace();
  await mkdir(join(place.path, 'locked'));
  await chmod(join(place.path, 'locked'), 0o555);
  await chmod(place.home, 0o755);
  const as = process.geteuid?.() === 0 ? 'setpriv --reuid=65534 --clear-groups' : '';
  const line = `${as} $FILINGS ${OVER.join(' ')} -d ${directory}`;
  const { exitCode, stderr } = await place.shell(line, { ...env, HOME: '/nonexistent' });
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/locked.*permission denied/);
});

test.each<[call: string, error: string, when: number, words: RegExp]>([
  ['pwritev,pwrite64', 'ENOSPC', 2, /full/],
  ['fsync', 'EIO', 1, /disk/],
  ['fsync', 'EIO', 2, /disk/],
  ['rename', 'EROFS', 1, /read-only/],
])('exits with 8 and keeps only the old file if %s fails with %s, call number %i', async (call, error, when, words) => {
  const place = await placeOf(true);
  const { exitCode, stderr } = await traced(place, failing(call, `error=${error}:when=${when}`), OVER, env);
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(words);
  expect(await place.names()).toEqual([NAME]);
  // The directory is flushed after the rename. If that fails, the new file exists but is not reported.
  const found = await place.read(NAME);
  expect(found.equals(call === 'fsync' && when === 2 ? FILE : OLD)).toBe(true);
});

test.each(['EPERM', 'EOPNOTSUPP', 'EMLINK'])('names the file without hard links if link fails: %s', async (error) => {
  const place = await workplace();
  const { exitCode, stderr } = await traced(place, failing('link', `error=${error}`), GET, env);
  expect(exitCode, stderr).toBe(0);
  expect((await place.read(NAME)).equals(FILE)).toBe(true);
  expect(await place.names()).toEqual([NAME]);
});

describe('SIGKILL', () => {
  /** Kills the program before a call takes effect. */
  async function kill(place: Workplace, call: string, when: number, old: boolean): Promise<void> {
    // strace ends with the signal of the program.
    const how = failing(call, `error=EIO:signal=KILL:when=${when}`);
    const { killedBy, stderr } = await traced(place, how, argumentsFor(old), env);
    expect(killedBy, stderr).toBe('SIGKILL');
  }

  // The part is flushed first, then the directory.
  test.each<[call: string, when: number, old: boolean]>([
    ['pwritev,pwrite64', 3, false],
    ['pwritev,pwrite64', 3, true],
    ['fsync', 1, false],
    ['fsync', 2, true],
    ['unlink', 1, false],
    ['link', 1, false],
    ['rename', 1, true],
  ])('leaves no torn file at %s, call number %i, with an old file: %s', async (call, when, old) => {
    const place = await placeOf(old);
    await kill(place, call, when, old);
    await expectSoundThenComplete(place, old, env);
  });

  test.each([
    ['rename', /^\.primary\.htm\.filings-resume$/],
    ['ftruncate', /^\.primary\.htm\.\w{8}\.filings-part$/],
  ])('leaves no torn file at %s, while a kept part is claimed', async (call, left) => {
    const place = await workplace();
    const cut = await scripted((socket) => {
      socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
      socket.end(FILE.subarray(0, 3_000_000));
    });
    const { port } = new URL(cut.url);
    expect((await place.filings([...GET, '--retries', '0'], serviceAt(cut.url))).exitCode).toBe(9);
    // The same service goes on at another port.
    const path = join(place.path, `.${NAME}.filings-resume`);
    const kept = (await readFile(path))
      .toString('latin1')
      .replaceAll(`:${port}/`, `:${new URL(env.FILINGS_BASE_URL ?? '').port}/`);
    await writeFile(path, kept, 'latin1');
    await kill(place, call, 1, false);
    expect(await place.names()).toEqual([expect.stringMatching(left)]);
    const { exitCode, stderr } = await place.filings(GET, env);
    expect(exitCode, stderr).toBe(0);
    expect(stderr.includes('resumed')).toBe(call === 'rename');
    expect((await place.read(NAME)).equals(FILE)).toBe(true);
  });
});

/** The strace options that change calls. */
function failing(calls: string, how: string): string {
  return `-e trace=${calls} -e inject=${calls}:${how}`;
}

/** Runs the program. Returns its result with a log of its calls. */
async function logged(place: Workplace, options: string, args: readonly string[]) {
  const log = join(place.home, 'calls');
  const ended = await traced(place, `-y -s 200 ${options}`, args, env, log);
  return { ...ended, calls: (await readFile(log, 'utf8')).split('\n').map((line) => line.replace(/^\d+ +/, '')) };
}

describe('a small file is flushed', () => {
  async function flushing(line: string, inject?: string) {
    const place = await workplace();
    const options = inject === undefined ? '-e trace=fsync' : failing('fsync', inject);
    const { calls, ...ended } = await logged(place, options, line.split(' '));
    const flushed = calls.flatMap((call) => /^fsync\(\d+<([^>]*)>/.exec(call)?.[1] ?? []);
    return { ...ended, place, flushed };
  }

  test('if it is a config file, with the entries of new directories', async () => {
    const { exitCode, stderr, place, flushed } = await flushing('config set jobs 2 --config a/b/config.json');
    expect(exitCode, stderr).toBe(0);
    const [above, a, file, b] = flushed;
    expect([above, a, b]).toEqual([place.path, join(place.path, 'a'), join(place.path, 'a/b')]);
    expect(file).toMatch(/\.config\.json\.\w{8}\.filings-part$/);
  });

  test('if it is a config file, although its file system cannot flush directories', async () => {
    const { exitCode, stderr, place } = await flushing('config set jobs 2 --config c.json', 'error=EINVAL:when=2+');
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse((await place.read('c.json')).toString())).toMatchObject({ jobs: 2 });
  });

  test('if it is a key, with its entry', async () => {
    const { exitCode, stderr, place, flushed } = await flushing('token keygen --alg ES256 --out key.pem');
    expect(exitCode, stderr).toBe(0);
    expect(flushed).toContain(join(place.path, 'key.pem'));
    expect(flushed.at(-1)).toBe(place.path);
  });

  test('or the command exits with 8 and does not keep it', async () => {
    const { exitCode, stderr, place } = await flushing('token keygen --alg HS256 --out key', 'error=EIO:when=2');
    expect(exitCode, stderr).toBe(8);
    expect(await place.names()).toEqual([]);
  });
});
