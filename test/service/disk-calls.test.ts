import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Disk, isLocalType } from '../../src/disk/calls.ts';
import { WrittenFile } from '../../src/disk/written-file.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const DISKS: [string, Disk][] = [
  ['at once', new Disk(true)],
  ['by the pool', new Disk(false)],
];

test.each(DISKS)('%s, calls do what they say', async (_, disk) => {
  const folder = await temporaryDirectory();
  const [part, final, other] = [join(folder, 'part'), join(folder, 'final'), join(folder, 'other')];
  expect(await disk.look(part)).toBeUndefined();
  const file = new WrittenFile(await disk.create(part, 0o600), disk);
  await file.write([Buffer.from('gone')]);
  await file.restart();
  await file.write([Buffer.from('one, '), Buffer.from('two')]);
  await file.write([Buffer.alloc(100_000, 'x')]);
  await file.flush();
  await file.setMode(0o640);
  expect([file.size, (await file.stat()).mode & 0o777]).toEqual([100_008, 0o640]);
  await file.close();
  await file.close();
  await disk.link(part, final);
  await disk.unlink(part);
  await disk.remove(part);
  await disk.rename(final, other);
  expect(await readdir(folder)).toEqual(['other']);
  expect(await readFile(other, 'utf8')).toBe(`one, two${'x'.repeat(100_000)}`);
});

test.each(DISKS)('%s, what fails rejects with what the system says', async (_, disk) => {
  const folder = await temporaryDirectory();
  const [there, missing] = [join(folder, 'there'), join(folder, 'missing')];
  await writeFile(there, '');
  await expect(disk.create(there, 0o600)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(disk.link(there, there)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(disk.rename(missing, there)).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(disk.unlink(missing)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.runIf(process.platform === 'linux')('a disk of this machine is known; any other goes by the pool', async () => {
  expect((await Disk.under('/dev/shm', 'linux')).isLocal).toBe(true);
  expect((await Disk.under('/proc', 'linux')).isLocal).toBe(false);
  expect((await Disk.under('/dev/shm', 'plan9')).isLocal).toBe(false);
  expect((await Disk.under('/no/such/directory', 'linux')).isLocal).toBe(false);
});

test('a local type is known with and without a sign, a type of a network is not local', () => {
  const types = [0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0xca451a4e, 0x2fc12fc1, 0x01021994, 0x858458f6];
  for (const type of types) expect([isLocalType(type | 0), isLocalType(type)]).toEqual([true, true]);
  for (const type of [0x6969, 0xff534d42, 0x65735546, 0x01021997, 0x73757245, 0]) expect(isLocalType(type)).toBe(false);
});
