import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCESSION, type Ended, serviceAt, until, type Workplace, workplace } from '../cli/program.ts';
import { startTogether } from '../servers/together.ts';
import { content } from '../service/transfer-fixture.ts';
import { traced } from './traced.ts';

// Disks without hard links (FAT, some network disks): a lock beside the name, and never an empty file under it.
const FILE = content(1_500_000);
const NAME = 'primary.htm';
let { server, gate } = {} as Awaited<ReturnType<typeof startTogether>>;

beforeAll(async () => {
  ({ server, gate } = await startTogether(FILE));
});
afterAll(() => server.close());

const download = (ifExists: string) => ['download', ACCESSION, NAME, '--if-exists', ifExists];

async function expectWhole(place: Workplace, folder = '.'): Promise<void> {
  expect((await place.read(join(folder, NAME))).equals(FILE)).toBe(true);
}

/** Runs the program on a disk without links, as strace makes it. */
function without(place: Workplace, args: readonly string[], more = ''): Promise<Ended> {
  const inject = `-e trace=link,rename,unlink,openat -e inject=link:error=EPERM ${more}`;
  return traced(place, inject, args, serviceAt(server.url));
}

describe('without hard links (strace)', () => {
  test.each(['error', 'skip'])(
    'several runs at once, --if-exists %s: exactly one puts the file there',
    async (ifExists) => {
      for (let round = 0; round < 10; round += 1) {
        const place = await workplace();
        gate.together = 3;
        const runs = await Promise.all([1, 2, 3].map(() => without(place, download(ifExists))));
        gate.together = 1;
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
    const inject = '-e trace=link,rename -e inject=link:error=EPERM -e inject=rename:delay_enter=2000000';
    const slow = traced(place, inject, download('error'), serviceAt(server.url));
    const locked = async () => (await place.names()).some((name) => name.endsWith('.lock') || name === NAME);
    await until(locked);
    const waiting = await without(place, download('error'));
    expect(waiting.exitCode, waiting.stderr).toBe(8);
    expect((await slow).exitCode).toBe(0);
    await expectWhole(place);
    expect(await place.names()).toEqual([NAME]);
  });
});
