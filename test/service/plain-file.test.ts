import { execFileSync } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { chown, link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { closeFile, openOwn } from '../../src/disk/plain-file.ts';
import { sha256OfFile } from '../../src/disk/sha256.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const uid = process.geteuid?.();
const { signal } = new AbortController();
const { O_RDONLY, O_RDWR } = constants;

describe('what stands in a directory that others may write', () => {
  test.each<[string, (path: string) => Promise<unknown>]>([
    ['a FIFO', async (path) => execFileSync('mkfifo', [path])],
    ['a directory', (path) => mkdir(path)],
    ['a link', async (path) => writeFile(`${path}x`, 'x').then(() => symlink(`${path}x`, path))],
    ['nothing', async () => {}],
  ])('%s is neither waited for nor followed, opened or hashed', async (_, make) => {
    const path = join(await temporaryDirectory(), 'file');
    await make(path);
    expect(await openOwn(path, O_RDONLY, uid)).toBeUndefined();
    expect(await openOwn(path, O_RDWR, uid)).toBeUndefined();
    await expect(sha256OfFile(path, path, signal)).rejects.toMatchObject({ code: 'local_io' });
  });

  test('a plain file is opened, with a second name or another user’s it is not our own', async () => {
    const path = join(await temporaryDirectory(), 'file');
    await writeFile(path, 'x');
    const { fd = -1, stats } = (await openOwn(path, O_RDWR, uid)) ?? {};
    expect([readFileSync(fd, 'utf8'), stats?.size]).toEqual(['x', 1]);
    await closeFile(fd);
    expect(await openOwn(path, O_RDONLY, Number(uid) + 1)).toBeUndefined();
    await link(path, `${path}x`);
    expect(await openOwn(path, O_RDONLY, uid)).toBeUndefined();
    expect(await sha256OfFile(path, path, signal)).toMatch(/^2d711642b726b044/);
  });

  test.skipIf(uid !== 0)('another user’s is not our own', async () => {
    const path = join(await temporaryDirectory(), 'file');
    await writeFile(path, 'x');
    await chown(path, 65534, 65534);
    expect(await openOwn(path, O_RDONLY, uid)).toBeUndefined();
  });
});
