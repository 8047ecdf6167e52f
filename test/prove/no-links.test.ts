import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ACCESSION, type Ended, serviceAt, until, type Workplace, workplace } from '../cli/program.ts';
import { head } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { traced } from './traced.ts';

// Disks without hard links (FAT, some network disks): a lock beside the name, and never an empty file under it.
const FILE = content(1_500_000);
const NAME = 'primary.htm';
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

const download = (ifExists: string, name = NAME) => ['download', ACCESSION, name, '--if-exists', ifExists];

async function threeAtOnce(run: () => Promise<Ended>): Promise<Ended[]> {
  together = 3;
  const runs = await Promise.all([run(), run(), run()]);
  together = 1;
  return runs;
}

async function expectWhole(place: Workplace, folder = '.'): Promise<void> {
  expect((await place.read(join(folder, NAME))).equals(FILE)).toBe(true);
}

describe('without hard links (strace)', () => {
  const without = (place: Workplace, args: readonly string[], more = '') =>
    traced(place, `-e trace=link,rename,unlink,openat -e inject=link:error=EPERM ${more}`, args, serviceAt(server.url));

  test.each(['error', 'skip'])(
    'several runs at once, --if-exists %s: exactly one puts the file there',
    async (ifExists) => {
      for (let round = 0; round < 10; round += 1) {
        const place = await workplace();
        const runs = await threeAtOnce(() => without(place, download(ifExists)));
        const skipped = runs.filter(({ stderr }) => /already exists/.test(stderr)).length;
        if (ifExists === 'error') expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 8, 8]);
        else expect([runs.map(({ exitCode }) => exitCode), skipped]).toEqual([[0, 0, 0], 2]);
        await expectWhole(place);
        expect(await place.names()).toEqual([NAME]);
      }
    },
  );

  // Renamed is the part, to be the lock, and then the file.
  test.each([
    ['before it is locked', 'rename:error=EIO:signal=KILL:when=1'],
    ['before the name is looked at', 'rename:signal=KILL:when=1'],
    ['before it has its name', 'rename:error=EIO:signal=KILL:when=2'],
    ['when it has its name', 'rename:signal=KILL:when=2'],
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
    const slow = without(place, download('error'), '-e inject=rename:delay_enter=2000000');
    await until(async () => (await place.names()).some((name) => name.endsWith('.lock') || name === NAME));
    const waiting = await without(place, download('error'));
    expect(waiting.exitCode, waiting.stderr).toBe(8);
    expect((await slow).exitCode).toBe(0);
    await expectWhole(place);
    expect(await place.names()).toEqual([NAME]);
  });
});

// Only root can mount.
describe.runIf(process.geteuid?.() === 0)('on exFAT, which knows no links and takes cases for one', () => {
  /** A place whose folder `disk` is a small exFAT disk, until the test has ended. */
  async function withDisk(): Promise<Workplace> {
    const place = await workplace();
    await mkdir(join(place.path, 'disk'));
    onTestFinished(async () => {
      await place.shell('umount disk; losetup -d "$(cat ../device)"');
    });
    const { exitCode, stderr } = await place.shell(`set -e; PATH=$PATH:/usr/sbin:/sbin
      truncate -s 16M ../image; mkfs.exfat ../image >&2; losetup -f --show ../image > ../device
      mount.exfat-fuse "$(cat ../device)" disk >&2`);
    expect(exitCode, stderr).toBe(0);
    return place;
  }
  const run = (place: Workplace, args: readonly string[]) =>
    place.filings([...args, '-d', 'disk'], serviceAt(server.url));

  test('several runs at once: exactly one puts the file there', async () => {
    const place = await withDisk();
    const runs = await threeAtOnce(() => run(place, download('error')));
    expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 8, 8]);
    await expectWhole(place, 'disk');
    expect(await readdir(join(place.path, 'disk'))).toEqual([NAME]);
  });

  test.each(['skip', 'compare', 'overwrite', 'error'])(
    'refuses another spelling of an existing name with %s, also in a dry run',
    async (ifExists) => {
      const place = await withDisk();
      await writeFile(join(place.path, 'disk', NAME), 'another file');
      for (const more of [['-n'], []]) {
        const { exitCode, stderr } = await run(place, [...download(ifExists, 'PRIMARY.htm'), ...more]);
        expect(exitCode, stderr).toBe(8);
        expect(stderr).toContain("PRIMARY.htm: 'primary.htm' exists, and this disk takes both names for one");
      }
      expect((await place.read(`disk/${NAME}`)).toString()).toBe('another file');
      expect((await run(place, download('skip'))).stderr).toMatch(/already exists/);
      expect((await run(place, download('overwrite'))).exitCode).toBe(0);
      await expectWhole(place, 'disk');
    },
  );
});
