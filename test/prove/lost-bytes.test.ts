import { mkdir } from 'node:fs/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../cli/program.ts';
import { sendFile } from '../servers/answers.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { content } from '../service/transfer-fixture.ts';
import { MIRROR } from './mirror-line.ts';
import { treeOf } from './recipes/mirrored.ts';

// A disk that loses bytes reports it once. What a later run resumes must not be a file that has lost some. The failing
// calls are in cli/lost-bytes; here is a real disk. Only root can mount.

const NUMBER = accession(0);
const FILES = Object.fromEntries(['f0.htm', 'f1.htm', 'f2.htm', 'f3.htm'].map((name) => [name, content(12_000_000)]));

describe.runIf(process.geteuid?.() === 0)('on a disk whose backing store is full, such as a thin pool', () => {
  test('the next run with free space completes the files', async ({ place }) => {
    onTestFinished(async () => {
      await place.shell('umount disk; losetup -d "$(cat device)"; umount store');
    });
    for (const name of ['store', 'disk']) await mkdir(place.at(name));
    const made = await place.shell(`set -e; PATH=$PATH:/usr/sbin:/sbin
      mount -t tmpfs -o size=24m none store; truncate -s 200M store/image
      mkfs.ext4 -q -O ^has_journal store/image; losetup -f --show store/image > device
      # The driver calls a short write a success. Writes of one page are never short.
      echo 4 > "/sys/block/$(basename "$(cat device)")/queue/max_sectors_kb"
      mount "$(cat device)" disk; rmdir disk/lost+found`);
    expect(made.exitCode, made.stderr).toBe(0);
    const { env } = await startArchive(
      { [NUMBER]: FILES },
      {
        instead(socket, { name, request }) {
          if (name !== undefined) sendFile(socket, request, FILES[name] as Buffer, `"${name}"`);
          return name !== undefined;
        },
      },
    );
    await place.write('in', `${NUMBER}\n`);
    const run = () => place.filings([...MIRROR, '-d', 'disk'], env);
    /** Writes what is left in the cache, and drops it, so that files are read from the disk. */
    const forget =
      'sync -f disk; for file in disk/*/* disk/*/.f*; do dd if="$file" iflag=nocache count=0; done 2>/dev/null; true';

    expect(await run()).toMatchObject({ exitCode: 8 });
    await place.shell(`mount -o remount,size=200m store; ${forget}`);
    expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
    await place.shell(forget);
    const { SHA256SUMS: _sums, ...tree } = await treeOf(place.at(`disk/${NUMBER}`));
    expect(Object.keys(tree)).toEqual(Object.keys(FILES));
    for (const [name, body] of Object.entries(FILES)) expect(tree[name] === body.toString('latin1'), name).toBe(true);
    expect(await place.filings(['verify', 'disk'])).toMatchObject({ exitCode: 0 });
  });
});
