import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ACCESSION, BIN, NODE, serviceAt, type Workplace, workplace } from '../cli/program.ts';
import { startTogether } from '../servers/together.ts';
import { content } from '../service/transfer-fixture.ts';

const FILE = content(1_500_000);
const NAME = 'primary.htm';
const PROGRAM = `${NODE} ${BIN}`;
let { server, gate } = {} as Awaited<ReturnType<typeof startTogether>>;

beforeAll(async () => {
  ({ server, gate } = await startTogether(FILE));
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
    gate.together = 3;
    const runs = await Promise.all([1, 2, 3].map(() => run(place, download('error'))));
    gate.together = 1;
    expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 8, 8]);
    await expectWhole(place, 'disk');
    const { stdout } = await place.shell('ls -A disk');
    expect(stdout.toString()).toBe(`${NAME}\n`);
  });

  test.each(['skip', 'compare', 'overwrite', 'error'])(
    'another spelling of what is there: refused (%s)',
    async (ifExists) => {
      const place = await workplace();
      await exfatDisk(place);
      await writeFile(join(place.path, 'disk', NAME), 'another file');
      const { exitCode, stderr } = await run(place, download(ifExists, 'PRIMARY.htm'));
      expect(exitCode, stderr).toBe(8);
      // What must not exist is not looked at any closer.
      const why =
        ifExists === 'error' ? 'it already exists' : "'primary.htm' exists, and this disk takes both names for one";
      expect(stderr).toContain(`PRIMARY.htm: ${why}`);
      expect((await place.read(`disk/${NAME}`)).toString()).toBe('another file');
      expect((await run(place, download('skip'))).stderr).toMatch(/already exists/);
      expect((await run(place, download('overwrite'))).exitCode).toBe(0);
      await expectWhole(place, 'disk');
    },
  );
});
