import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ACCESSION, type Ended, serviceAt, until, type Workplace, workplace } from '../cli/program.ts';
import { head } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { traced } from './traced.ts';

// On file systems without hard links, such as FAT and some network file systems, a lock file guards the name, and the
// name never has an empty file.
const FILE = content(1_500_000);
const NAME = 'primary.htm';
let server: ScriptedServer;
/** Number of requests that are answered at the same time, so that their runs name the file at the same time. */
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
    'exactly one of several concurrent runs names the file with --if-exists %s',
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

  // The first rename turns the part into the lock, and the second one names the file.
  test.each([
    ['before it has the lock', 'rename:error=EIO:signal=KILL:when=1'],
    ['before it checks the name', 'rename:signal=KILL:when=1'],
    ['before it names the file', 'rename:error=EIO:signal=KILL:when=2'],
    ['after it named the file', 'rename:signal=KILL:when=2'],
  ])('a kill %s does not block or mislead the next run', async (_, kill) => {
    for (const ifExists of ['skip', 'error']) {
      const place = await workplace();
      const killed = await without(place, download(ifExists), `-e inject=${kill}`);
      expect(killed.killedBy, killed.stderr).toBe('SIGKILL');
      const there = (await place.names()).includes(NAME);
      if (there) await expectWhole(place);
      const { exitCode, stderr } = await without(place, download(ifExists));
      expect(exitCode, stderr).toBe(there && ifExists === 'error' ? 8 : 0);
      await expectWhole(place);
      // A run that fails because the file exists does not clean up either.
      await without(place, download('skip'));
      expect(await place.names()).toEqual([NAME]);
    }
  });

  test('a run waits for the lock of another running process', async () => {
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
describe.runIf(process.geteuid?.() === 0)('on exFAT, which has no hard links and ignores case', () => {
  /** A workplace whose directory `disk` is a small exFAT file system, until the end of the test. */
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

  test('exactly one of several concurrent runs names the file', async () => {
    const place = await withDisk();
    const runs = await threeAtOnce(() => run(place, download('error')));
    expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 8, 8]);
    await expectWhole(place, 'disk');
    expect(await readdir(join(place.path, 'disk'))).toEqual([NAME]);
  });

  test.each(['skip', 'compare', 'overwrite', 'error'])(
    'another spelling of an existing name is rejected with %s, also in a dry run',
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
