import { readdirSync } from 'node:fs';
import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Directory } from '../../src/disk/directory.ts';
import { Directories } from '../../src/transfer/directories.ts';
import { processInfo, temporaryDirectory } from './transfer-fixture.ts';

// Many directories below the one that the user named are made and flushed together. No link below it is followed.
const directoriesHere = () => new Directories(processInfo());

test('a directory that could not be opened is tried again', async () => {
  const directory = await temporaryDirectory();
  const directories = directoriesHere();
  const location = { directory, below: 'a/b' };
  await writeFile(join(directory, 'a'), '');
  await expect(directories.open(location)).rejects.toMatchObject({ code: 'local_io' });
  await rm(join(directory, 'a'));
  expect((await directories.open(location)).directory.path).toBe(join(directory, 'a/b'));
});

test.each<[string, string, (path: string, elsewhere: string) => Promise<unknown>]>([
  ['a link in place of a directory', 'acc', (path, elsewhere) => symlink(elsewhere, path)],
  ['a link on the way to it', 'acc/deep', (path, elsewhere) => symlink(elsewhere, path)],
  ['a dangling link', 'acc', (path) => symlink('nowhere', path)],
  ['a file', 'acc', (path) => writeFile(path, '')],
])('below the named directory, %s is refused without stopping the run', async (_, below, plant) => {
  const [directory, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
  await plant(join(directory, 'acc'), elsewhere);
  const directories = directoriesHere();
  const failure = await directories.open({ directory, below }).catch((error) => error);
  expect(failure).toMatchObject({ code: 'local_io', stopsRun: false });
  expect(failure.message).toMatch(/^\/.*\/acc: cannot write there: it is (a link|no directory)$/);
  expect(readdirSync(elsewhere)).toEqual([]);
  await directories.open({ directory, below: 'other' });
});

test('of several runs at once, one makes each directory and all can use it', async () => {
  const directory = await temporaryDirectory();
  const several = Array.from({ length: 4 }, directoriesHere);
  for (let index = 0; index < 20; index += 1) {
    const below = `a${index}/b`;
    const opened = await Promise.all(several.map((directories) => directories.open({ directory, below })));
    expect(new Set(opened.map((one) => one.directory.path))).toEqual(new Set([join(directory, below)]));
    expect(await Promise.all(opened.map((one) => one.directory.flush()))).toEqual([true, true, true, true]);
  }
});

test('flush reports that a directory was moved away, even if another one has its name', async () => {
  const directory = await temporaryDirectory();
  const { directory: target } = await directoriesHere().open({ directory, below: 'a' });
  const flushes = [target.flush()];
  await rename(join(directory, 'a'), join(directory, 'b'));
  flushes.push(target.flush());
  await Promise.all(flushes);
  expect(await target.flush()).toBe(false);
  await mkdir(join(directory, 'a'));
  expect(await target.flush()).toBe(false);
});

test('a directory whose flush has failed is not flushed again in the same run', async () => {
  const directory = await temporaryDirectory();
  const { directory: target } = await directoriesHere().open({ directory, below: 'a' });
  const [path, moved] = [join(directory, 'a'), join(directory, 'b')];
  await rename(path, moved);
  // The link leads to itself, so it cannot be opened.
  await symlink('a', path);
  const failure = await target.flush().catch((error) => error);
  expect(failure).toMatchObject({ code: 'local_io', stopsRun: true });
  await unlink(path);
  await rename(moved, path);
  await expect(target.flush()).rejects.toBe(failure);
  await expect(target.settle(Date.now())).rejects.toBe(failure);
  // A new run flushes the directory.
  const { directory: reopened } = await directoriesHere().open({ directory, below: 'a' });
  expect(await reopened.flush()).toBe(true);
});

test('a new directory cannot be flushed if the flush of the directory above has failed', async () => {
  const folder = await temporaryDirectory();
  const [path, moved] = [join(folder, 'a'), join(folder, 'b')];
  await mkdir(path);
  const above = await Directory.open(path, false, { ...processInfo(), cwd: folder });
  await rename(path, moved);
  await symlink('a', path);
  const failure = await above.flush().catch((error) => error);
  await unlink(path);
  await rename(moved, path);
  await expect((await above.openChild('new')).flush()).rejects.toBe(failure);
});
