import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ACCESSION, serviceAt, type Workplace, workplace } from '../cli/program.ts';
import { whole } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';

// On file systems without hard links, such as FAT and some network file systems, the program looks whether the name
// exists, and then renames the part. prove/failing-calls has the errors of link.
const FILE = content(1_500_000);
const NAME = 'primary.htm';
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScripted(whole(FILE, '"v1"'));
});
afterAll(() => server.close());

const download = (ifExists: string, name = NAME) => ['download', ACCESSION, name, '--if-exists', ifExists];

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

  test('a file of an earlier run exists in any spelling, and stays unless it is to be replaced', async () => {
    const place = await withDisk();
    expect((await run(place, download('error'))).exitCode).toBe(0);
    for (const [name, ifExists, status] of [
      [NAME, 'error', 8],
      ['PRIMARY.htm', 'error', 8],
      ['PRIMARY.htm', 'skip', 0],
      ['PRIMARY.htm', 'compare', 0],
    ] as const) {
      const { exitCode, stderr } = await run(place, download(ifExists, name));
      expect([name, ifExists, exitCode], stderr).toEqual([name, ifExists, status]);
      expect(await readdir(join(place.path, 'disk'))).toEqual([NAME]);
    }
    await writeFile(join(place.path, 'disk', NAME), 'another file');
    expect((await run(place, download('compare'))).exitCode).toBe(8);
    expect((await run(place, download('overwrite'))).exitCode).toBe(0);
    expect((await place.read(join('disk', NAME))).equals(FILE)).toBe(true);
    expect(await readdir(join(place.path, 'disk'))).toEqual([NAME]);
  });
});
