import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, BIN, type Ended, serviceAt, until, type Workplace, workplace } from './program.ts';

// Disks without hard links (FAT, some network disks): a lock beside the name, and never an empty file under it.
const FILE = content(1_500_000);
const NAME = 'primary.htm';
const PROGRAM = `${process.execPath} ${BIN}`;
const ONE_THREAD = { UV_THREADPOOL_SIZE: '1' };
let server: ScriptedServer;
/** So many requests are answered together: their runs reach for the name at once. */
let together = 1;

beforeAll(async () => {
  let waiting: (() => void)[] = [];
  server = await startScripted(async (socket) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length < together) return;
      for (const goOn of waiting) goOn();
      waiting = [];
    });
    socket.write(head(200, { ETag: '"v1"', 'Content-Length': FILE.length }));
    socket.write(FILE);
  });
});
afterAll(() => server.close());

const download = (ifExists: string, name = NAME) => `download ${ACCESSION} ${name} --if-exists ${ifExists}`;

async function expectWhole(place: Workplace, folder = '.'): Promise<void> {
  expect((await place.read(join(folder, NAME))).equals(FILE)).toBe(true);
}

async function works(command: string): Promise<boolean> {
  return promisify(execFile)('bash', ['-c', command]).then(
    () => true,
    () => false,
  );
}
const strace = await works('strace -f -o /dev/null true');

/** Runs the program on a disk without links, as strace makes it. */
function without(place: Workplace, line: string, more = ''): Promise<Ended> {
  const calls = 'link,rename,unlink,openat';
  const inject = `-e trace=${calls} -e inject=link:error=EPERM ${more}`;
  return place.shell(`strace -f -o /dev/null ${inject} ${PROGRAM} ${line}`, {
    ...serviceAt(server.url),
    ...ONE_THREAD,
  });
}

describe.skipIf(!strace)('without hard links (strace)', () => {
  test.each(['error', 'skip'])(
    'several runs at once, --if-exists %s: exactly one puts the file there',
    async (ifExists) => {
      for (let round = 0; round < 5; round += 1) {
        const place = await workplace();
        together = 3;
        const runs = await Promise.all([1, 2, 3].map(() => without(place, download(ifExists))));
        together = 1;
        const skipped = runs.filter(({ stderr }) => /skipped/.test(stderr)).length;
        if (ifExists === 'error') expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 8, 8]);
        else expect([runs.map(({ exitCode }) => exitCode), skipped]).toEqual([[0, 0, 0], 2]);
        await expectWhole(place);
        expect(await place.names()).toEqual([NAME]);
      }
    },
  );

  // Unlinked are the record, then the lock.
  test.each([
    ['before the name is looked at', 'unlink:signal=KILL:when=1'],
    ['before the rename', 'rename:error=EIO:signal=KILL:when=1'],
    ['behind the rename', 'rename:signal=KILL:when=1'],
    ['before the lock is gone', 'unlink:error=EIO:signal=KILL:when=2'],
    ['when the lock is gone', 'unlink:signal=KILL:when=2'],
  ])('a kill %s leaves nothing that blocks or fools a later run', async (_, kill) => {
    for (const ifExists of ['skip', 'error']) {
      const place = await workplace();
      const killed = await without(place, download(ifExists), `-e inject=${kill}`);
      expect(killed.killedBy, killed.stderr).toBe('SIGKILL');
      const there = (await place.names()).includes(NAME);
      if (there) await expectWhole(place);
      const { exitCode, stderr } = await without(place, download(ifExists));
      expect(exitCode, stderr).toBe(there && ifExists === 'error' ? 8 : 0);
      await expectWhole(place);
      // What refuses to touch anything sweeps nothing either.
      await without(place, download('skip'));
      expect(await place.names()).toEqual([NAME]);
    }
  });

  test('a lock of a run that lives is waited for', async () => {
    const place = await workplace();
    const inject = '-e trace=link,rename -e inject=link:error=EPERM -e inject=rename:delay_enter=2000000';
    const slow = place.shell(`strace -f -o /dev/null ${inject} ${PROGRAM} ${download('error')}`, {
      ...serviceAt(server.url),
      ...ONE_THREAD,
    });
    const locked = async () => (await place.names()).some((name) => name.endsWith('.lock') || name === NAME);
    await until(locked);
    const waiting = await without(place, download('error'));
    expect(waiting.exitCode, waiting.stderr).toBe(8);
    expect((await slow).exitCode).toBe(0);
    await expectWhole(place);
    expect(await place.names()).toEqual([NAME]);
  });
});

const tools = 'PATH=$PATH:/usr/sbin:/sbin; type mkfs.exfat losetup';
const exfat =
  process.geteuid?.() === 0 &&
  (await works(`${tools} && { grep -qw exfat /proc/filesystems || type mount.exfat-fuse; }`));

/** A folder `disk` of the place that is a small exFAT disk, until the test has ended. */
async function exfatDisk(place: Workplace): Promise<void> {
  await mkdir(join(place.path, 'disk'));
  onTestFinished(async () => {
    await place.shell('umount disk; losetup -d "$(cat ../device)"');
  });
  const { exitCode, stderr } = await place.shell(
    `set -e; ${tools} >&2
truncate -s 16M ../image; mkfs.exfat ../image >&2; losetup -f --show ../image > ../device
if type mount.exfat-fuse >&2; then mount.exfat-fuse "$(cat ../device)" disk >&2; else mount -t exfat "$(cat ../device)" disk; fi`,
    toolPaths(),
  );
  expect(exitCode, stderr).toBe(0);
}

/** Of tools that are not installed for all. */
function toolPaths(): Record<string, string> {
  const { LD_LIBRARY_PATH } = process.env;
  return LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };
}

describe.skipIf(!exfat)('on exFAT, which knows no links and takes cases for one', () => {
  const run = (place: Workplace, line: string) => place.shell(`${PROGRAM} ${line} -d disk`, serviceAt(server.url));

  test('several runs at once: exactly one puts the file there', async () => {
    const place = await workplace();
    await exfatDisk(place);
    together = 3;
    const runs = await Promise.all([1, 2, 3].map(() => run(place, download('error'))));
    together = 1;
    expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 8, 8]);
    await expectWhole(place, 'disk');
    const { stdout } = await place.shell('ls -A disk');
    expect(stdout.toString()).toBe(`${NAME}\n`);
  });

  test.each(['skip', 'overwrite', 'error'])('another spelling of what is there: refused (%s)', async (ifExists) => {
    const place = await workplace();
    await exfatDisk(place);
    await writeFile(join(place.path, 'disk', NAME), 'another file');
    const { exitCode, stderr } = await run(place, download(ifExists, 'PRIMARY.htm'));
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/PRIMARY\.htm: 'primary\.htm' is there, and this disk takes both names for one/);
    expect((await place.read(`disk/${NAME}`)).toString()).toBe('another file');
    expect((await run(place, download('skip'))).stderr).toMatch(/skipped/);
    expect((await run(place, download('overwrite'))).exitCode).toBe(0);
    await expectWhole(place, 'disk');
  });
});
