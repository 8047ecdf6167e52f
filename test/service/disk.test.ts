import { openSync, readdirSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { AppendFile } from '../../src/disk/append.ts';
import { replaceFile } from '../../src/disk/atomic-write.ts';
import { ASYNC_FS, type Disk, retryWhileInUse, SYNC_FS, selectDisk } from '../../src/disk/calls.ts';
import { OutputFile } from '../../src/disk/output-file.ts';
import { proving } from '../proving.ts';
import { socketAt, temporaryDirectory } from './transfer-fixture.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder, 'file');
});

const here = { platform: process.platform, sleep };
const text = (path = file) => readFile(path, 'utf8');

describe.each<[string, Disk]>([
  ['synchronous calls', SYNC_FS],
  ['the thread pool', ASYNC_FS],
])('a disk with %s', (_, disk) => {
  test('creates, writes, flushes, closes, links, renames and removes files', async () => {
    const [part, final, other] = [join(folder, 'part'), join(folder, 'final'), join(folder, 'other')];
    expect(await disk.lstat(part)).toBeUndefined();
    const written = new OutputFile(await disk.create(part, 0o600), disk);
    await written.write([Buffer.from('gone')]);
    await written.restart();
    await written.write([Buffer.from('one, '), Buffer.from('two')]);
    await written.write([Buffer.alloc(100_000, 'x')]);
    await written.flush();
    await written.setMode(0o640);
    expect([written.size, (await written.stat()).mode & 0o777]).toEqual([100_008, 0o640]);
    await written.close();
    await written.close();
    await disk.link(part, final);
    await disk.remove(part);
    await disk.remove(part);
    await disk.rename(final, other);
    expect(await readdir(folder)).toEqual(['other']);
    expect(await text(other)).toBe(`one, two${'x'.repeat(100_000)}`);
  });
});

describe('after a failure', () => {
  /** Opens a device that accepts each write and refuses each flush. */
  const onDevice = (noteFailure?: (error: unknown) => void) =>
    new OutputFile(openSync('/dev/null', 'r+'), ASYNC_FS, 0, noteFailure);

  test('a file that could not be flushed refuses flushes and writes', async () => {
    const failures: unknown[] = [];
    const written = onDevice((error) => failures.push(error));
    const failure = await written.flush().catch((error) => error);
    expect(failure).toMatchObject({ syscall: 'fsync' });
    // A second flush would give another error.
    await expect(written.flush()).rejects.toBe(failure);
    await expect(written.write([Buffer.from('x')])).rejects.toBe(failure);
    expect(failures).toEqual([failure]);
    await written.close();
  });

  test('a file that could not be written refuses a flush that the system would accept', async () => {
    await writeFile(file, '');
    const written = new OutputFile(openSync(file, 'r'), ASYNC_FS);
    const failure = await written.write([Buffer.from('x')]).catch((error) => error);
    expect(failure).toMatchObject({ syscall: 'write' });
    await expect(written.flush()).rejects.toBe(failure);
    await written.close();
  });

  test('a file whose background flush failed refuses writes, even from the start', async () => {
    const failures: unknown[] = [];
    const written = onDevice((error) => failures.push(error));
    const block = Buffer.alloc(1 << 20);
    // The flush begins after 128 MiB. A restart waits for it.
    for (let blocks = 0; blocks < 128; blocks += 1) await written.write([block]);
    await written.restart().catch(() => {});
    expect(failures).toMatchObject([{ syscall: 'fdatasync' }]);
    await expect(written.write([block])).rejects.toBe(failures[0]);
    await expect(written.flush()).rejects.toBe(failures[0]);
    await written.close();
  });

  test('a flush waits for the one in the background, and has its error', async () => {
    const failures: unknown[] = [];
    const written = onDevice((error) => failures.push(error));
    const block = Buffer.alloc(1 << 20);
    for (let blocks = 0; blocks < 128; blocks += 1) await written.write([block]);
    await expect(written.flush()).rejects.toMatchObject({ syscall: 'fdatasync' });
    expect(failures).toHaveLength(1);
    await written.close();
  });

  test('a failed close is reported as a failure, too', async () => {
    const failure = Object.assign(new Error('EIO'), { syscall: 'close' });
    const failures: unknown[] = [];
    const close = () => Promise.reject(failure);
    const written = new OutputFile(-1, { ...ASYNC_FS, close }, 0, (error) => failures.push(error));
    await expect(written.close()).rejects.toBe(failure);
    expect(failures).toEqual([failure]);
  });
});

test('a file is closed after the end of its flush', async () => {
  const order: string[] = [];
  const close = async (fd: number) => {
    order.push('closed');
    await ASYNC_FS.close(fd);
  };
  // A device refuses the flush, so that its end is reported.
  const written = new OutputFile(openSync('/dev/null', 'r+'), { ...ASYNC_FS, close }, 0, () => order.push('flushed'));
  const flushing = written.flush().catch(() => {});
  await Promise.resolve();
  await written.close();
  await flushing;
  expect(order).toEqual(['flushed', 'closed']);
});

test('a discarded file loses its bytes only during a flush', async () => {
  for (const isUnderWay of [true, false]) {
    const path = join(folder, String(isUnderWay));
    const written = new OutputFile(await ASYNC_FS.create(path, 0o600), ASYNC_FS);
    await written.write([Buffer.from('some text')]);
    const flushing = written.flush();
    // The flush has begun. It ends in a later turn of the event loop.
    if (isUnderWay) await Promise.resolve();
    else await flushing;
    await written.discard();
    await flushing;
    await written.discard();
    expect(await text(path)).toBe(isUnderWay ? '' : 'some text');
  }
});

test('an unknown disk is used through the thread pool', async () => {
  expect(await selectDisk(folder, { platform: 'plan9', sleep })).toBe(ASYNC_FS);
  expect(await selectDisk('/no/such/directory', { platform: 'linux', sleep })).toBe(ASYNC_FS);
  if (process.platform === 'linux') expect(await selectDisk('/proc', { platform: 'linux', sleep })).toBe(ASYNC_FS);
  if (process.platform === 'linux') expect(await selectDisk('/dev/shm', { platform: 'linux', sleep })).toBe(SYNC_FS);
});

describe('a call that fails because another program has the file open', () => {
  const failing = (code: string, times: number) => {
    let calls = 0;
    return async () => {
      calls += 1;
      if (calls <= times) throw Object.assign(new Error(code), { code });
      return calls;
    };
  };
  const counted = () => {
    const waits: number[] = [];
    return { waits, sleep: async (ms: number) => void waits.push(ms) };
  };

  test.each(['EPERM', 'EACCES', 'EBUSY'])('is repeated after %s', async (code) => {
    const { waits, sleep } = counted();
    expect(await retryWhileInUse(failing(code, 3), sleep)).toBe(4);
    expect(waits).toEqual([50, 50, 50]);
  });

  test('fails after one second', async () => {
    const { waits, sleep } = counted();
    await expect(retryWhileInUse(failing('EBUSY', 1000), sleep)).rejects.toMatchObject({ code: 'EBUSY' });
    expect(waits.reduce((sum, ms) => sum + ms)).toBe(1000);
  });

  test('is not repeated after another error', async () => {
    const { waits, sleep } = counted();
    await expect(retryWhileInUse(failing('ENOSPC', 1), sleep)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(waits).toEqual([]);
  });
});

describe('a file that is replaced', () => {
  test('may be the target of a link, even of one that leads nowhere yet', async () => {
    const link = join(folder, 'link');
    await symlink('file', link);
    for (const content of ['made', 'replaced']) {
      await replaceFile(link, content, here);
      expect([await text(), (await lstat(link)).isSymbolicLink()]).toEqual([content, true]);
    }
    expect(await readdir(folder)).toEqual(['file', 'link']);
  });

  test.each([
    ['a device', (path: string) => symlink('/dev/null', path)],
    ['a socket', socketAt],
    ['a directory', (path: string) => mkdir(path)],
  ])('is never %s', async (_, make) => {
    await make(file);
    const before = (await stat(file)).mode;
    await expect(replaceFile(file, 'new', here)).rejects.toMatchObject({
      code: 'local_io',
      message: expect.stringMatching(/it is (not a regular file|a directory)$/),
    });
    expect([(await stat(file)).mode, await readdir(folder)]).toEqual([before, ['file']]);
  });

  test.each([
    [0o600, 0o700],
    [0o644, 0o755],
  ])('with mode %o is put into new directories of mode %o', async (mode, directory) => {
    const path = join(folder, 'new/er/file');
    await expect(replaceFile(path, 'text', here, { mode })).rejects.toMatchObject({ code: 'local_io' });
    expect(await readdir(folder)).toEqual([]);
    await replaceFile(path, 'text', here, { mode, makesDirectories: true });
    const modes = await Promise.all(['new', 'new/er', 'new/er/file'].map((name) => stat(join(folder, name))));
    const masked = (full: number) => full & ~process.umask();
    expect(modes.map((one) => one.mode & 0o777)).toEqual([masked(directory), masked(directory), masked(mode)]);
  });
});

describe('appended lines', () => {
  const append = async (...lines: string[]) => {
    const appendFile = await AppendFile.open(file);
    await Promise.all(lines.map((line) => appendFile.write([Buffer.from(`${line}\n`)])));
    await appendFile.end();
  };

  test('create the file, follow one another and start a new line after a torn one', async () => {
    await append('a', 'b');
    expect(await text()).toBe('a\nb\n');
    for (const torn of ['torn', '\0']) {
      await writeFile(file, torn, { flag: 'a' });
      await append('c');
    }
    expect(await text()).toBe('a\nb\ntorn\nc\n\0\nc\n');
  });

  test('do not cut a torn line of another file that has got the name', async () => {
    await writeFile(file, 'a\ntorn');
    const appendFile = await AppendFile.open(file, { tornLine: 'remove' });
    const moved = join(folder, 'moved');
    await rename(file, moved);
    await writeFile(file, 'b\ntorn');
    const descriptors = readdirSync('/dev/fd').length;
    await expect(appendFile.write([Buffer.from('c\n')])).rejects.toMatchObject({ code: 'local_io' });
    expect(readdirSync('/dev/fd')).toHaveLength(descriptors);
    await appendFile.end();
    expect([await text(), await text(moved)]).toEqual(['b\ntorn', 'a\ntorn']);
  });

  test.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    ['a directory', (path) => mkdir(path), /it is a directory/],
    ['a device', (path) => symlink('/dev/null', path), /it is not a regular file/],
    ['a socket', socketAt, /no such device or address/],
    ['a missing directory', async (path) => symlink(join(path, 'x/y'), path), /./],
  ])('are refused for %s', async (_, make, why) => {
    await make(file);
    await expect(AppendFile.open(file)).rejects.toMatchObject({
      code: 'local_io',
      message: expect.stringMatching(why),
    });
  });

  test.each([
    ['end', 'torn\n'],
    ['remove', ''],
  ] as const)('of several writers at once are never lost or torn (torn line: %s)', async (tornLine, rest) => {
    const lines = proving ? 20_000 : 1000;
    await writeFile(file, 'torn');
    const appending = ['a', 'b', 'c'].map(async (who) => {
      const appendFile = await AppendFile.open(file, { tornLine });
      for (let n = 0; n < lines; n += 1) await appendFile.write([Buffer.from(`${who}${n}\n`)]);
      await appendFile.end();
    });
    await Promise.all(appending);
    const wanted = ['a', 'b', 'c'].flatMap((who) => Array.from({ length: lines }, (_, n) => `${who}${n}`));
    const found = await text();
    expect(found.startsWith(rest)).toBe(true);
    expect(found.slice(rest.length).split('\n').filter(Boolean).sort()).toEqual(wanted.sort());
  });
});
