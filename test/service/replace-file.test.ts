import { execFileSync } from 'node:child_process';
import { lstat, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { replaceFile } from '../../src/disk/replace-file.ts';
import { workplace } from '../program/run.ts';

it('replaces a plain file, also one that a link leads to', async () => {
  const { path } = await workplace();
  await writeFile(join(path, 'file'), 'old');
  await symlink('file', join(path, 'link'));
  await replaceFile(join(path, 'link'), 'new', 'elsewhere');
  expect(await readFile(join(path, 'file'), 'utf8')).toBe('new');
  expect((await lstat(join(path, 'link'))).isSymbolicLink()).toBe(true);
});

it('leaves a FIFO alone, as it would a device', async () => {
  const { path } = await workplace();
  execFileSync('mkfifo', [join(path, 'fifo')]);
  await expect(replaceFile(join(path, 'fifo'), 'new', 'elsewhere')).rejects.toMatchObject({
    code: 'local_io',
    message: expect.stringContaining('it is no plain file'),
  });
  expect((await lstat(join(path, 'fifo'))).isFIFO()).toBe(true);
});

it.each([
  [0o600, 0o700],
  [0o644, 0o755],
])('a directory that it makes for a file of %o may be entered by whoever may read that', async (mode, directory) => {
  const { path } = await workplace();
  await replaceFile(join(path, 'new/er/file'), 'text', 'elsewhere', mode);
  const modes = await Promise.all(['new', 'new/er', 'new/er/file'].map((name) => stat(join(path, name))));
  const masked = (full: number) => full & ~process.umask();
  expect(modes.map((one) => one.mode & 0o777)).toEqual([masked(directory), masked(directory), masked(mode)]);
});
