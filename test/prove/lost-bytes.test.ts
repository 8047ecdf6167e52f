import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Workplace, workplace } from '../cli/program.ts';
import { sendFile } from '../servers/answers.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { content } from '../service/transfer-fixture.ts';
import { MIRROR } from './mirror-line.ts';
import { treeOf } from './recipes/mirrored.ts';

// A disk that loses bytes reports it once. What a later run resumes must not be a file that has lost some. The failing
// calls are in cli/lost-bytes; here is a real disk.

const NUMBER = accession(0);

/** A mirror of one filing with large files. */
async function mirror(size: number, place: Workplace, line: readonly string[]) {
  const names = ['f0.htm', 'f1.htm', 'f2.htm', 'f3.htm'];
  const files = Object.fromEntries(names.map((name) => [name, content(size)]));
  const archive = await startArchive(
    { [NUMBER]: files },
    {
      instead(socket, { name, request }) {
        if (name === undefined) return false;
        sendFile(socket, request, files[name] as Buffer, `"${name}"`);
        return true;
      },
    },
  );
  await writeFile(join(place.path, 'in'), `${NUMBER}\n`);
  return {
    run: () => place.filings(line, archive.env),
    /** Fails unless the directory has exactly these files and their checksums. */
    async expectRight(out: string) {
      const tree = await treeOf(join(place.path, out, NUMBER));
      expect(Object.keys(tree).sort()).toEqual(['SHA256SUMS', ...names]);
      for (const name of names) expect([name, tree[name] === files[name]?.toString('latin1')]).toEqual([name, true]);
      const { exitCode, stderr } = await place.filings(['verify', out]);
      expect(exitCode, stderr).toBe(0);
    },
  };
}

// Only root can mount.
describe.runIf(process.geteuid?.() === 0)('on a disk whose backing store is full, such as a thin pool', () => {
  /** A workplace with such a disk, until the end of the test. */
  async function onThinDisk(): Promise<Workplace> {
    const place = await workplace();
    for (const name of ['store', 'disk']) await mkdir(join(place.path, name));
    onTestFinished(async () => {
      await place.shell('umount disk; losetup -d "$(cat device)"; umount store');
    });
    const { exitCode, stderr } = await place.shell(`set -e; PATH=$PATH:/usr/sbin:/sbin
      mount -t tmpfs -o size=24m none store; truncate -s 200M store/image
      mkfs.ext4 -q -O ^has_journal store/image; losetup -f --show store/image > device
      # The driver calls a short write a success. Writes of one page are never short.
      echo 4 > "/sys/block/$(basename "$(cat device)")/queue/max_sectors_kb"; mount "$(cat device)" disk`);
    expect(exitCode, stderr).toBe(0);
    return place;
  }

  test('the next run with free space completes the files', async () => {
    const place = await onThinDisk();
    const line = MIRROR.map((arg) => (arg === 'out' ? 'disk' : arg));
    const { run, expectRight } = await mirror(12_000_000, place, line);
    const first = await run();
    expect(first.exitCode, first.stderr).toBe(8);
    /** Drops the cache, so that files are read from the disk. */
    const forget = 'for file in disk/*/* disk/*/.f*; do dd if="$file" iflag=nocache count=0; done 2>/dev/null; true';
    await place.shell(`mount -o remount,size=200m store; ${forget}`);
    expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
    await place.shell(`rmdir disk/lost+found; sync -f disk; ${forget}`);
    await expectRight('disk');
  });
});
