import { mkdirSync, openSync, readdirSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { openAppendFile } from '../../src/disk/append.ts';
import { replaceFile } from '../../src/disk/atomic-write.ts';
import { createNameOperations, NEW_FILE, retryWhileInUse } from '../../src/disk/calls.ts';
import { Directory } from '../../src/disk/directory.ts';
import { OutputFile } from '../../src/disk/output-file.ts';
import { FilingsError } from '../../src/errors.ts';
import { proving } from '../proving.ts';
import { socketAt, test } from './transfer-fixture.ts';

const here = { platform: process.platform, sleep, random: Math.random, uid: process.geteuid?.() };
const text = (path: string) => readFile(path, 'utf8');

type Plant = { make: (path: string) => Promise<unknown>; why: string };

test('the removal of a name that is gone is no error', async ({ directory }) => {
  await createNameOperations(here).remove(join(directory, 'gone'));
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

  test('a file that could not be written refuses a flush that the system would accept', async ({ directory }) => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    const written = new OutputFile(openSync(file, 'r'));
    const failure = await written.write([Buffer.from('x')]).catch((error) => error);
    expect(failure).toMatchObject({ syscall: 'write' });
    await expect(written.flush()).rejects.toBe(failure);
    await written.close();
  });

  test('a file whose background flush failed refuses flushes and writes', async () => {
    const written = onDevice();
    const block = Buffer.alloc(1 << 20);
    // The background flush begins after 128 MiB. The last flush waits for it.
    for (let blocks = 0; blocks < 128; blocks += 1) await written.write([block]);
    await expect(written.flush()).rejects.toMatchObject({ syscall: 'fdatasync' });
    await expect(written.write([block])).rejects.toMatchObject({ syscall: 'fdatasync' });
    await written.close();
  });
});

test('a discarded file loses its bytes only during a flush', async ({ directory }) => {
  for (const isUnderWay of [true, false]) {
    const path = join(directory, String(isUnderWay));
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

test('the entries of a directory are not durable if those above it could not be flushed', async ({ directory }) => {
  for (const isNew of [true, false]) {
    const failure = new FilingsError('local_io', 'the disk reported an error');
    const opened = new Directory(directory, isNew, Promise.reject(failure));
    await expect(opened.flush()).rejects.toBe(failure);
    await expect(opened.flushExistingEntries()).rejects.toBe(failure);
    expect(opened.areExistingEntriesFlushed).toBe(false);
  }
});

describe('a call that fails because another program has the file open', () => {
  /** Repeats a call that fails `times` times. Returns its result and the waits. */
  async function repeat(code: string, times: number) {
    const waits: number[] = [];
    let calls = 0;
    const call = async () => {
      calls += 1;
      if (calls <= times) throw Object.assign(new Error(code), { code });
    };
    const error = await retryWhileInUse(call, async (ms) => void waits.push(ms)).catch(({ code }) => code);
    return { error, waits };
  }

  test('is repeated, and fails after one second', async () => {
    for (const code of ['EPERM', 'EACCES', 'EBUSY'])
      expect(await repeat(code, 3)).toEqual({ error: undefined, waits: [50, 50, 50] });
    const { error, waits } = await repeat('EBUSY', 1000);
    expect([error, waits.reduce((sum, ms) => sum + ms)]).toEqual(['EBUSY', 1000]);
  });

  test('is not repeated after another error', async () => {
    expect(await repeat('ENOSPC', 1)).toEqual({ error: 'ENOSPC', waits: [] });
  });
});

describe('a file that is replaced', () => {
  test('may be the target of a link, even of one that leads nowhere yet', async ({ directory }) => {
    const link = join(directory, 'link');
    await symlink('file', link);
    for (const content of ['made', 'replaced']) {
      await replaceFile(link, content, here);
      expect([await text(join(directory, 'file')), (await lstat(link)).isSymbolicLink()]).toEqual([content, true]);
    }
    expect(await readdir(directory)).toEqual(['file', 'link']);
  });

  test.for`
    what             | make                                            | why
    ${'a device'}    | ${(path: string) => symlink('/dev/null', path)} | ${'it is not a regular file'}
    ${'a socket'}    | ${socketAt}                                     | ${'it is not a regular file'}
    ${'a directory'} | ${(path: string) => mkdir(path)}                | ${'it is a directory'}
  `('is never $what', async ({ make, why }: Plant, { directory }) => {
    const file = join(directory, 'file');
    await make(file);
    const before = (await stat(file)).mode;
    const refused = { code: 'local_io', message: expect.stringContaining(why) };
    await expect(replaceFile(file, 'new', here)).rejects.toMatchObject(refused);
    expect([(await stat(file)).mode, await readdir(directory)]).toEqual([before, ['file']]);
  });

  test('leaves no temporary file if it cannot get its name', async ({ directory }) => {
    const file = join(directory, 'file');
    // Meanwhile something else makes a directory there.
    const random = () => {
      mkdirSync(file);
      return Math.random();
    };
    await expect(replaceFile(file, 'new', { ...here, random })).rejects.toMatchObject({ code: 'local_io' });
    expect(await readdir(directory)).toEqual(['file']);
  });

  test('is put into new directories of its own mode if they may be made', async ({ directory }) => {
    const masked = (full: number) => full & ~process.umask();
    for (const mode of [0o600, 0o644]) {
      const path = join(directory, `${mode}/new/file`);
      await expect(replaceFile(path, 'text', here, { mode })).rejects.toMatchObject({ code: 'local_io' });
      expect(await readdir(directory)).not.toContain(`${mode}`);
      await replaceFile(path, 'text', here, { mode, makesDirectories: true });
      const modes = await Promise.all(['../..', '..', '.'].map((above) => stat(join(path, above))));
      const inDirectory = masked(mode === 0o600 ? 0o700 : 0o755);
      expect(modes.map((one) => one.mode & 0o777)).toEqual([inDirectory, inDirectory, masked(mode)]);
    }
  });
});

describe('appended lines', () => {
  test('create the file, follow one another and start a new line after a torn one', async ({ directory }) => {
    const file = join(directory, 'file');
    const append = async (...lines: string[]) => {
      const appendFile = await openAppendFile('--report', file);
      const writes = lines.map((line) => appendFile.write([Buffer.from(`${line}\n`)]));
      // Waits for the writes.
      await appendFile.end();
      await Promise.all(writes);
    };
    // The threads of the system would write them in any order.
    const lines = Array.from({ length: 500 }, (_, at) => `${at}`);
    await append(...lines);
    expect(await text(file)).toBe(`${lines.join('\n')}\n`);
    await writeFile(file, 'a\nb\n');
    for (const torn of ['torn', '\0']) {
      await writeFile(file, torn, { flag: 'a' });
      await append('c');
    }
    expect(await text(file)).toBe('a\nb\ntorn\nc\n\0\nc\n');
  });

  test.for`
    what                     | make                                                  | why
    ${'a directory'}         | ${(path: string) => mkdir(path)}                      | ${'it is a directory'}
    ${'a device'}            | ${(path: string) => symlink('/dev/null', path)}       | ${'it is not a regular file'}
    ${'a socket'}            | ${socketAt}                                           | ${'no such device or address'}
    ${'a missing directory'} | ${(path: string) => symlink(join(path, 'x/y'), path)} | ${''}
  `('are refused for $what', async ({ make, why }: Plant, { directory }) => {
    const file = join(directory, 'file');
    await make(file);
    const refused = { code: 'local_io', message: expect.stringContaining(why) };
    const descriptors = readdirSync('/dev/fd').length;
    await expect(openAppendFile('--report', file)).rejects.toMatchObject(refused);
    expect(readdirSync('/dev/fd')).toHaveLength(descriptors);
  });

  test('of several writers at once are never lost or torn', async ({ directory }) => {
    const file = join(directory, 'file');
    const rest = 'torn\n';
    const lines = proving ? 20_000 : 1000;
    await writeFile(file, 'torn');
    const appending = ['a', 'b', 'c'].map(async (who) => {
      const appendFile = await openAppendFile('--report', file);
      for (let n = 0; n < lines; n += 1) await appendFile.write([Buffer.from(`${who}${n}\n`)]);
      await appendFile.end();
    });
    await Promise.all(appending);
    const wanted = ['a', 'b', 'c'].flatMap((who) => Array.from({ length: lines }, (_, n) => `${who}${n}`));
    const found = await text(file);
    expect(found.startsWith(rest)).toBe(true);
    expect(found.slice(rest.length).split('\n').filter(Boolean).sort()).toEqual(wanted.sort());
  });
});
