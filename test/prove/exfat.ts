import { mkdir } from 'node:fs/promises';
import { expect, onTestFinished } from 'vitest';
import type { Workplace } from '../cli/program.ts';

/** Mounts a new exFAT file system at `disk` until the end of the test, by FUSE. Only root can mount. */
export async function mountExfat({ at, shell }: Workplace, options = 'rw'): Promise<void> {
  onTestFinished(async () => {
    await shell('umount disk; losetup -d "$(cat ../device)"');
  });
  await mkdir(at('disk'));
  const made = await shell(`set -e; PATH=$PATH:/usr/sbin:/sbin
    truncate -s 16M ../image; mkfs.exfat ../image >&2; losetup -f --show ../image > ../device
    mount.exfat-fuse -o ${options} "$(cat ../device)" disk >&2`);
  expect(made.exitCode, made.stderr).toBe(0);
}
