import { openSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sleep } from '../../src/abort.ts';
import { ASYNC_FS, SYNC_FS } from '../../src/disk/calls.ts';
import { diskError, isWriteFailure } from '../../src/disk/failure.ts';
import { OutputFile } from '../../src/disk/output-file.ts';
import { FilingsError } from '../../src/errors.ts';
import { KeptParts } from '../../src/transfer/part/kept-parts.ts';
import { heldClock } from '../held-clock.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

/** A sleep that ends only when its signal aborts. */
const forever: Sleep = (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject));

const fileAt = async (path: string) => new OutputFile(await ASYNC_FS.create(path, 0o600), ASYNC_FS);
const onDevice = (parts: KeptParts) => new OutputFile(openSync('/dev/null', 'r+'), ASYNC_FS, 0, parts.noteFailure);
const flushFailure = Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fsync' });

/** Keeps a part of ten bytes and its record. */
async function keepOne(parts: KeptParts) {
  const directory = await temporaryDirectory();
  const paths = ['record', 'part'].map((name) => join(directory, name));
  for (const path of paths) await writeFile(path, '');
  parts.add({ bytes: 10, disk: SYNC_FS, paths });
  return { names: () => readdir(directory) };
}

test('a part is safe after it has been flushed', async () => {
  const file = await fileAt(join(await temporaryDirectory(), 'part'));
  expect(await new KeptParts(forever).tryFlush(file)).toBe(true);
  await file.close();
});

test.each([
  [1999, true],
  [2000, false],
])('after %i ms without an end of the flush, tryFlush returns %s', async (ms, expected) => {
  const { pass, sleep } = heldClock();
  const file = await fileAt(join(await temporaryDirectory(), 'part'));
  const flushing = new KeptParts(sleep).tryFlush(file);
  await pass(ms);
  expect(await flushing).toBe(expected);
  await file.close();
});

test('after a failed flush no part is safe, and the kept ones are removed', async () => {
  const parts = new KeptParts(forever);
  const { names } = await keepOne(parts);
  const [bad, good] = [onDevice(parts), await fileAt(join(await temporaryDirectory(), 'part'))];
  expect([await parts.tryFlush(bad), await parts.tryFlush(good)]).toEqual([false, false]);
  expect([await parts.settle(), await names()]).toEqual([0, []]);
  await Promise.all([bad.close(), good.close()]);
});

test('without a failure the parts remain, and their bytes are counted', async () => {
  const parts = new KeptParts(forever);
  const [one, another] = [await keepOne(parts), await keepOne(parts)];
  parts.noteFailure(new FilingsError('temporary', 'the network', { cause: { ...flushFailure } }));
  expect(await parts.settle()).toBe(20);
  expect([await one.names(), await another.names()]).toEqual([
    ['part', 'record'],
    ['part', 'record'],
  ]);
});

test('a part is removed even if its record cannot be removed', async () => {
  const parts = new KeptParts(forever);
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'part'), '');
  // A directory takes the place of the record.
  parts.add({ bytes: 10, disk: SYNC_FS, paths: [await temporaryDirectory(), join(directory, 'part')] });
  parts.noteFailure(flushFailure);
  expect([await parts.settle(), await readdir(directory)]).toEqual([0, []]);
});

const system = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });

test.each<[boolean, string, unknown]>([
  [true, 'a flush', system('EINVAL', 'fsync')],
  [true, 'a flush of data', system('EIO', 'fdatasync')],
  [true, 'a write', system('EFBIG', 'write')],
  [true, 'a close', system('EDQUOT', 'close')],
  [true, 'a rename on a failing disk', system('EIO', 'rename')],
  [true, 'a link on a disk that became read-only', system('EROFS', 'link')],
  [true, 'the cause of an error', diskError(system('EIO', 'fsync'), 'path')],
  [
    true,
    'the cause of a cause',
    (diskError(system('EIO', 'fsync'), 'path') as FilingsError).with({ subject: { name: '--report' } }),
  ],
  [false, 'a directory that may not be written', diskError(system('EACCES', 'open'), 'path')],
  [false, 'too many open files', diskError(system('EMFILE', 'open'), 'path')],
  [false, 'a socket', new FilingsError('temporary', 'reset', { cause: system('EPIPE', 'write') })],
  [false, 'another file that exists', new FilingsError('local_io', 'a different file already exists')],
  [false, 'nothing', undefined],
])('isWriteFailure is %s for %s', (expected, _, error) => {
  expect(isWriteFailure(error)).toBe(expected);
});
