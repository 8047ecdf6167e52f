import { openSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sleep } from '../../src/abort.ts';
import { AT_ONCE, BY_POOL } from '../../src/disk/calls.ts';
import { diskFailure, isWriteFailure } from '../../src/disk/failure.ts';
import { WrittenFile } from '../../src/disk/written-file.ts';
import { FilingsError } from '../../src/errors.ts';
import { KeptParts } from '../../src/transfer/part/kept-parts.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

/** Ends when its signal aborts. */
const forever: Sleep = (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject));

const fileAt = async (path: string) => new WrittenFile(await BY_POOL.create(path, 0o600), BY_POOL);
const onDevice = (kept: KeptParts) => new WrittenFile(openSync('/dev/null', 'r+'), BY_POOL, 0, kept.noteFailure);
const lost = Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fsync' });

/** Keeps a part of ten bytes and its record. */
async function keepOne(kept: KeptParts) {
  const directory = await temporaryDirectory();
  const paths = ['record', 'part'].map((name) => join(directory, name));
  for (const path of paths) await writeFile(path, '');
  kept.add({ bytes: 10, disk: AT_ONCE, paths });
  return { names: () => readdir(directory) };
}

test('a part is safe when it has been flushed', async () => {
  const file = await fileAt(join(await temporaryDirectory(), 'part'));
  expect(await new KeptParts(forever).isSafe(file)).toBe(true);
  await file.close();
});

test('a part is not safe when its flush takes more than two seconds', async () => {
  const waits: number[] = [];
  const sleep: Sleep = async (ms) => void waits.push(ms);
  const file = await fileAt(join(await temporaryDirectory(), 'part'));
  expect([await new KeptParts(sleep).isSafe(file), waits]).toEqual([false, [2000]]);
  await file.close();
});

test('after a failed flush no part is safe, and those that are kept go', async () => {
  const kept = new KeptParts(forever);
  const { names } = await keepOne(kept);
  const [bad, good] = [onDevice(kept), await fileAt(join(await temporaryDirectory(), 'part'))];
  expect([await kept.isSafe(bad), await kept.isSafe(good)]).toEqual([false, false]);
  expect([await kept.settle(), await names()]).toEqual([0, []]);
  await Promise.all([bad.close(), good.close()]);
});

test('without a failure the parts stay, and their bytes are counted', async () => {
  const kept = new KeptParts(forever);
  const [one, another] = [await keepOne(kept), await keepOne(kept)];
  kept.noteFailure(new FilingsError('temporary', 'the network', { cause: { ...lost } }));
  expect(await kept.settle()).toBe(20);
  expect([await one.names(), await another.names()]).toEqual([
    ['part', 'record'],
    ['part', 'record'],
  ]);
});

test('a part goes also when its record cannot be removed', async () => {
  const kept = new KeptParts(forever);
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'part'), '');
  // A directory is in the place of the record.
  kept.add({ bytes: 10, disk: AT_ONCE, paths: [await temporaryDirectory(), join(directory, 'part')] });
  kept.noteFailure(lost);
  expect([await kept.settle(), await readdir(directory)]).toEqual([0, []]);
});

const system = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });

test.each<[boolean, string, unknown]>([
  [true, 'a flush', system('EINVAL', 'fsync')],
  [true, 'a flush of data', system('EIO', 'fdatasync')],
  [true, 'a write', system('EFBIG', 'write')],
  [true, 'a close', system('EDQUOT', 'close')],
  [true, 'a rename on a failing disk', system('EIO', 'rename')],
  [true, 'a link on a disk that became read-only', system('EROFS', 'link')],
  [true, 'the cause of an error', diskFailure(system('EIO', 'fsync'), 'path')],
  [
    true,
    'the cause of a cause',
    (diskFailure(system('EIO', 'fsync'), 'path') as FilingsError).reworded('--report path'),
  ],
  [false, 'a directory that may not be written', diskFailure(system('EACCES', 'open'), 'path')],
  [false, 'too many open files', diskFailure(system('EMFILE', 'open'), 'path')],
  [false, 'a socket', new FilingsError('temporary', 'reset', { cause: system('EPIPE', 'write') })],
  [false, 'another file that exists', new FilingsError('local_io', 'a different file already exists')],
  [false, 'nothing', undefined],
])('%s: %s is a failed write or flush', (expected, _, error) => {
  expect(isWriteFailure(error)).toBe(expected);
});
