import { openSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { AppendFile } from '../../src/disk/append.ts';
import { replaceFile } from '../../src/disk/atomic-write.ts';
import { NEW_FILE, namesOn, retryWhileInUse } from '../../src/disk/calls.ts';
import { OutputFile } from '../../src/disk/output-file.ts';
import { proving } from '../proving.ts';
import { socketAt, temporaryDirectory } from './transfer-fixture.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder, 'file');
});

const here = { platform: process.platform, sleep, random: Math.random };
const text = (path = file) => readFile(path, 'utf8');

test('a file is created, written, flushed, closed, linked, renamed and removed', async () => {
  const names = namesOn(here);
  const [part, final, other] = [join(folder, 'part'), join(folder, 'final'), join(folder, 'other')];
  const written = new OutputFile(openSync(part, NEW_FILE, 0o600));
  await written.write([Buffer.from('gone')]);
  await written.restart();
  await written.write([Buffer.from('one, '), Buffer.from('two')]);
  await written.write([Buffer.alloc(100_000, 'x')]);
  await written.flush();
  expect(written.size).toBe(100_008);
  await written.close();
  await written.close();
  await names.link(part, final);
  await names.remove(part);
  await names.remove(part);
  await names.rename(final, other);
  expect(await readdir(folder)).toEqual(['other']);
  expect(await text(other)).toBe(`one, two${'x'.repeat(100_000)}`);
});

describe('after a failure', () => {
  /** Opens a device that accepts each write and refuses each flush. */
  const onDevice = () => new OutputFile(openSync('/dev/null', 'r+'));

  test('a file that could not be flushed refuses flushes and writes', async () => {
    const written = onDevice();
    const failure = await written.flush().catch((error) => error);
    expect(failure).toMatchObject({ syscall: 'fsync' });
    // A second flush would give another error.
    await expect(written.flush()).rejects.toBe(failure);
    await expect(written.write([Buffer.from('x')])).rejects.toBe(failure);
    await written.close();
  });

  test('a file that could not be written refuses a flush that the system would accept', async () => {
    await writeFile(file, '');
    const written = new OutputFile(openSync(file, 'r'));
    const failure = await written.write([Buffer.from('x')]).catch((error) => error);
    expect(failure).toMatchObject({ syscall: 'write' });
    await expect(written.flush()).rejects.toBe(failure);
    await written.close();
  });

  test('a file whose background flush failed refuses writes, even from the start', async () => {
    const written = onDevice();
    const block = Buffer.alloc(1 << 20);
    // The flush begins after 128 MiB. A restart waits for it.
    for (let blocks = 0; blocks < 128; blocks += 1) await written.write([block]);
    await written.restart().catch(() => {});
    await expect(written.write([block])).rejects.toMatchObject({ syscall: 'fdatasync' });
    await expect(written.flush()).rejects.toMatchObject({ syscall: 'fdatasync' });
    await written.close();
  });
});

test('a discarded file loses its bytes only during a flush', async () => {
  for (const isUnderWay of [true, false]) {
    const path = join(folder, String(isUnderWay));
    const written = new OutputFile(openSync(path, NEW_FILE, 0o600));
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

  test('of several writers at once are never lost or torn', async () => {
    const rest = 'torn\n';
    const lines = proving ? 20_000 : 1000;
    await writeFile(file, 'torn');
    const appending = ['a', 'b', 'c'].map(async (who) => {
      const appendFile = await AppendFile.open(file);
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
