import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, until, type Workplace, workplace } from './program.ts';

// Proof 5 of a transfer that never lies: a disk that says no, and things in the way.
const FILE = content(3_000_000);
const OLD = Buffer.from('the old file');
const NAME = 'primary.htm';
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScripted((socket, request) => {
    sendFile(socket, request, FILE, '"v1"');
  });
});
afterAll(() => server.close());

const get = `$FILINGS download ${ACCESSION} ${NAME} --if-exists overwrite`;
const run = (place: Workplace, script: string, env = {}) => place.shell(script, { ...serviceAt(server.url), ...env });

async function withOld(): Promise<Workplace> {
  const place = await workplace();
  await writeFile(join(place.path, NAME), OLD);
  return place;
}

async function expectOldOnly(place: Workplace): Promise<void> {
  expect(await place.names()).toEqual([NAME]);
  expect(await place.read(NAME)).toEqual(OLD);
}

const probes = async (line: string) =>
  promisify(execFile)('bash', ['-c', line]).then(
    () => true,
    () => false,
  );
const namespaces = await probes('unshare -Urm true');
const isRoot = process.geteuid?.() === 0;
const otherUser = !isRoot || (await probes('setpriv --reuid=65534 --clear-groups true'));

describe('the old file stays, the part goes, exit 8', () => {
  test.each([100, 1000])('a file that grows beyond ulimit -f %i', async (limit) => {
    const place = await withOld();
    const { exitCode, stderr } = await run(place, `trap '' XFSZ; ulimit -f ${limit}; ${get}`);
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/larger than may be written/);
    await expectOldOnly(place);
  });

  test('into stdout: beyond the limit', async () => {
    const place = await workplace();
    const { exitCode } = await run(
      place,
      `trap '' XFSZ; ulimit -f 100; ${get.replace('--if-exists overwrite', '-o -')} > out`,
    );
    expect(exitCode).toBe(8);
    const out = await place.read('out');
    expect(out.equals(FILE.subarray(0, out.length))).toBe(true);
  });

  test.skipIf(!namespaces)('a full disk (a tmpfs of 1 MB in a namespace of our own)', async () => {
    const place = await workplace();
    await mkdir(join(place.path, 'disk'));
    const { exitCode, stderr, stdout } = await run(
      place,
      `cat > inside.sh <<'END'
mount -t tmpfs -o size=1m none disk || exit 99
printf 'the old file' > disk/${NAME}
${get} -d disk
code=$?
ls -A disk; cat disk/${NAME}
exit $code
END
FILINGS="$FILINGS" unshare -Urm bash inside.sh`,
    );
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/the disk is full/);
    expect(stdout.toString()).toBe(`${NAME}\n${OLD}`);
  });

  test.skipIf(!namespaces)('a read-only disk', async () => {
    const place = await workplace();
    await mkdir(join(place.path, 'disk'));
    const { exitCode, stderr } = await run(
      place,
      `FILINGS="$FILINGS" unshare -Urm bash -c 'mount --bind disk disk && mount -o remount,bind,ro disk || exit 99; ${get} -d disk'`,
    );
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/read-only/);
  });

  test.skipIf(!otherUser)('a directory that may not be written', async () => {
    const place = await workplace();
    await mkdir(join(place.path, 'locked'));
    await chmod(join(place.path, 'locked'), 0o555);
    await chmod(place.home, 0o755);
    const as = isRoot ? 'setpriv --reuid=65534 --clear-groups' : '';
    const { exitCode, stderr } = await run(place, `${as} ${get} -d locked`, { HOME: '/nonexistent' });
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/locked.*permission denied/);
    const made = await run(place, `${as} ${get} -d locked/deeper/still`, { HOME: '/nonexistent' });
    expect(made.exitCode, made.stderr).toBe(8);
  });

  test.each([
    ['-d /proc/nope', /\/proc\/nope/],
    ['-d /proc/nope/deeper', /\/proc\/nope/],
    ['-o /proc/nope/file', /\/proc\/nope/],
    ['-d /dev/null', /\/dev\/null/],
    ['-d /dev/null/deeper', /\/dev\/null/],
    [`-o ${'x'.repeat(300)}`, /too long/],
  ])('%s', async (where, words) => {
    const place = await workplace();
    const { exitCode, stderr } = await run(place, get.replace('--if-exists overwrite', where));
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(words);
    expect(await place.names()).toEqual([]);
  });

  test('the directory of -o is removed meanwhile', async () => {
    let goOn = () => {};
    const paused = await startScripted((socket) => {
      socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
      socket.write(FILE.subarray(0, -1));
      goOn = () => void socket.write(FILE.subarray(-1));
    });
    const place = await workplace();
    const gone = join(place.path, 'gone');
    await mkdir(gone);
    const running = place.start(['download', ACCESSION, 'a', '-o', 'gone/a'], serviceAt(paused.url));
    const sizes = async () =>
      Promise.all((await readdir(gone)).map(async (name) => (await lstat(join(gone, name))).size));
    await until(async () => (await sizes()).includes(FILE.length - 1));
    await rm(gone, { recursive: true });
    goOn();
    const { exitCode, stderr } = await running.ended;
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/directory is not there/);
    await paused.close();
  });

  // A run for each limit.
  test.runIf(proving)('too few open files', async () => {
    const place = await withOld();
    const seen = new Set<number>();
    // Below some limit Node itself can't start; from some other on it is enough.
    for (let limit = 20; limit < 64 && !seen.has(0); limit += 1) {
      const { exitCode, stderr } = await run(place, `ulimit -n ${limit}; ${get}`);
      seen.add(exitCode);
      if (stderr.startsWith('filings:') && exitCode !== 0) expect(exitCode, stderr).toBe(8);
      if (exitCode !== 0) await expectOldOnly(place);
    }
    // At one limit at least it was the program that ran out.
    expect([...seen]).toEqual(expect.arrayContaining([8, 0]));
  });
});

describe('things in the way', () => {
  test('a link under the final name is replaced, never followed', async () => {
    for (const more of ['--if-exists overwrite', `-o ${NAME}`]) {
      const place = await workplace();
      await writeFile(join(place.home, 'precious'), OLD);
      await symlink('../precious', join(place.path, NAME));
      const { exitCode, stderr } = await run(place, `$FILINGS download ${ACCESSION} ${NAME} ${more}`);
      expect(exitCode, stderr).toBe(0);
      expect((await lstat(join(place.path, NAME))).isFile()).toBe(true);
      expect((await place.read(NAME)).equals(FILE)).toBe(true);
      expect(await readFile(join(place.home, 'precious'))).toEqual(OLD);
    }
  });

  test('the directory itself may be a link: it is the user’s own', async () => {
    const place = await workplace();
    await mkdir(join(place.home, 'elsewhere'));
    await symlink('../elsewhere', join(place.path, 'out'));
    expect((await run(place, `${get} -d out`)).exitCode).toBe(0);
    expect((await readFile(join(place.home, 'elsewhere', NAME))).equals(FILE)).toBe(true);
    expect(await readlink(join(place.path, 'out'))).toBe('../elsewhere');
  });

  test('a directory as -o', async () => {
    const place = await workplace();
    const { exitCode, stderr } = await run(place, `mkdir out; $FILINGS download ${ACCESSION} ${NAME} -o out`);
    expect(exitCode, stderr).toBe(8);
    expect(await place.names()).toEqual(['out']);
  });

  test.skipIf(!isRoot)('another user’s file that is replaced leaves no permissions behind', async () => {
    const place = await withOld();
    const path = join(place.path, NAME);
    await chmod(path, 0o666);
    await chown(path, 65534, 65534);
    expect((await run(place, `umask 077; ${get}`)).exitCode).toBe(0);
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
  });

  test('a new file has the permissions that the umask leaves', async () => {
    const place = await workplace();
    await run(place, `umask 027; ${get}`);
    expect((await lstat(join(place.path, NAME))).mode & 0o777).toBe(0o640);
  });
});
