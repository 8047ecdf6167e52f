import { readdirSync } from 'node:fs';
import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Directories } from '../../src/transfer/directories.ts';
import { processInfo, temporaryDirectory } from './transfer-fixture.ts';

// Many directories below the one that the user named: none behind a link, made and flushed together.
const directoriesHere = () => new Directories(processInfo());

test('one that could not be had is tried again', async () => {
  const directory = await temporaryDirectory();
  const directories = directoriesHere();
  const where = { directory, below: 'a/b' };
  await writeFile(join(directory, 'a'), '');
  await expect(directories.at(where)).rejects.toMatchObject({ code: 'local_io' });
  await rm(join(directory, 'a'));
  expect((await directories.at(where)).directory.path).toBe(join(directory, 'a/b'));
});

test.each<[string, string, (path: string, elsewhere: string) => Promise<unknown>]>([
  ['a link in the place of a directory', 'acc', (path, elsewhere) => symlink(elsewhere, path)],
  ['a link on the way to it', 'acc/deep', (path, elsewhere) => symlink(elsewhere, path)],
  ['a link that leads nowhere', 'acc', (path) => symlink('nowhere', path)],
  ['a file', 'acc', (path) => writeFile(path, '')],
])('below the directory that was named, %s: refused, for that one alone', async (_, below, plant) => {
  const [directory, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
  await plant(join(directory, 'acc'), elsewhere);
  const directories = directoriesHere();
  const refused = await directories.at({ directory, below }).catch((error) => error);
  expect(refused).toMatchObject({ code: 'local_io', stopsRun: false });
  expect(refused.message).toMatch(/^\/.*\/acc: cannot write there: it is (a link|no directory)$/);
  expect(readdirSync(elsewhere)).toEqual([]);
  await directories.at({ directory, below: 'other' });
});

test('several runs at the same moment: one of them makes it, the others take it as it is', async () => {
  const directory = await temporaryDirectory();
  const several = Array.from({ length: 4 }, directoriesHere);
  for (let index = 0; index < 20; index += 1) {
    const below = `a${index}/b`;
    const opened = await Promise.all(several.map((directories) => directories.at({ directory, below })));
    expect(new Set(opened.map((one) => one.directory.path))).toEqual(new Set([join(directory, below)]));
    expect(await Promise.all(opened.map((one) => one.directory.flush()))).toEqual([true, true, true, true]);
  }
});

test('one that was moved away is known not to be there, whatever has its name by now', async () => {
  const directory = await temporaryDirectory();
  const { directory: opened } = await directoriesHere().at({ directory, below: 'a' });
  const flushes = [opened.flush()];
  await rename(join(directory, 'a'), join(directory, 'b'));
  flushes.push(opened.flush());
  await Promise.all(flushes);
  expect(await opened.flush()).toBe(false);
  await mkdir(join(directory, 'a'));
  expect(await opened.flush()).toBe(false);
});

test('a directory whose flush has failed is not flushed again in the same run', async () => {
  const directory = await temporaryDirectory();
  const { directory: opened } = await directoriesHere().at({ directory, below: 'a' });
  const [path, moved] = [join(directory, 'a'), join(directory, 'b')];
  await rename(path, moved);
  // It cannot be opened.
  await symlink('a', path);
  const failure = await opened.flush().catch((error) => error);
  expect(failure).toMatchObject({ code: 'local_io', stopsRun: true });
  await unlink(path);
  await rename(moved, path);
  await expect(opened.flush()).rejects.toBe(failure);
  await expect(opened.settle(Date.now())).rejects.toBe(failure);
  // Another run starts anew.
  const { directory: again } = await directoriesHere().at({ directory, below: 'a' });
  expect(await again.flush()).toBe(true);
});
