import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { appendEntry, ChecksumFiles } from '../../src/checksums/append.ts';
import { proving } from '../proving.ts';
import { bundled, start } from './checksums-processes.ts';

const execute = promisify(execFile);
const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

let folder: string;
let sums: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filings-sums-'));
  sums = join(folder, 'SHA256SUMS');
  return () => rm(folder, { recursive: true, force: true });
});

const text = () => readFile(sums, 'latin1');
const append = (name: string) => appendEntry(folder, { name, sha256: HEX });
const options = { now: Date.now, flushed: true };

describe('an append', () => {
  test('makes the file, and goes to its end', async () => {
    await append('a');
    await append('b');
    expect(await text()).toBe(`${HEX}  a\n${HEX}  b\n`);
  });

  test('after a torn line begins with a line break', async () => {
    await writeFile(sums, `${HEX}  a\n${HEX.slice(0, 30)}`);
    await append('b');
    expect(await text()).toBe(`${HEX}  a\n${HEX.slice(0, 30)}\n${HEX}  b\n`);
  });

  test.each<[string, (elsewhere: string) => Promise<unknown>, RegExp]>([
    ['a link', (elsewhere) => symlink(elsewhere, sums), /symbolic link/],
    ['a FIFO', () => execute('mkfifo', [sums]), /not a regular file/],
    ['a directory', () => mkdir(sums), /directory/],
  ])('to %s is refused', async (_, plant, told) => {
    const elsewhere = join(folder, 'elsewhere');
    await writeFile(elsewhere, 'untouched');
    await plant(elsewhere);
    await expect(append('a')).rejects.toMatchObject({
      code: 'local_io',
      message: expect.stringMatching(told),
    });
    expect(await readFile(elsewhere, 'utf8')).toBe('untouched');
  });

  test('that the disk takes half of is an error, and the next begins with a line break', async () => {
    const program = await bundled(
      folder,
      'appender',
      `import { appendEntry } from './src/checksums/append.ts';
       await appendEntry(process.argv[2], { name: 'a'.repeat(200), sha256: '${HEX}' });`,
    );
    await writeFile(sums, `${HEX}  ${'b'.repeat(833)}\n`);
    // 1,024 bytes a file, of which 900 are there.
    const ended = await execute('bash', ['-c', `ulimit -f 1; ${process.execPath} ${program} ${folder}`]).catch(
      (error) => error,
    );
    expect(ended.stderr).toMatch(/larger than may be written here/);
    expect((await stat(sums)).size).toBe(1024);
    await append('c');
    expect((await text()).split('\n').slice(2)).toEqual([`${HEX}  c`, '']);
  });
});

describe('what is listed', () => {
  test('is read once, and kept right by what is added', async () => {
    await writeFile(sums, `${HEX}  a\n\\${HEX}  b\\nc\n${HEX}  torn`);
    const files = new ChecksumFiles(options);
    const listed = (name: string) => files.isListed(folder, name);
    expect([await listed('a'), await listed('b\nc'), await listed('torn'), await listed('new')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    await files.add(folder, 'é.htm', HEX);
    expect(await listed('é.htm')).toBe(true);
    // Another process's line: this run does not read again.
    await appendFile(sums, `${HEX}  later\n`);
    expect(await listed('later')).toBe(false);
    expect(await text()).toBe(
      `${HEX}  a\n\\${HEX}  b\\nc\n${HEX}  torn\n${Buffer.from(`${HEX}  é.htm\n`).toString('latin1')}${HEX}  later\n`,
    );
  });

  test('of more directories than are remembered is right, too', async () => {
    const files = new ChecksumFiles({ ...options, flushed: false });
    const places = Array.from({ length: 600 }, (_, index) => join(folder, `${index}`));
    for (const path of places) await mkdir(path);
    for (const path of places) await files.add(path, 'a', HEX);
    for (const path of places)
      expect([await files.isListed(path, 'a'), await files.isListed(path, 'b')]).toEqual([true, false]);
  });

  test('in a directory that can’t be read is an error', async () => {
    await symlink(join(folder, 'elsewhere'), sums);
    await expect(new ChecksumFiles(options).isListed(folder, 'a')).rejects.toMatchObject({ code: 'local_io' });
  });

  test('in directories beyond those remembered: what can’t be flushed fails none of their files, and each flush after', async () => {
    const files = new ChecksumFiles(options);
    await files.add(folder, 'a', HEX);
    // No regular file, which can't be flushed.
    await rm(sums);
    await mkdir(sums);
    for (let count = 0; count < 300; count += 1) {
      await mkdir(join(folder, `${count}`));
      await files.add(join(folder, `${count}`), 'a', HEX);
    }
    for (let again = 0; again < 2; again += 1) await expect(files.flush()).rejects.toMatchObject({ code: 'local_io' });
  });
});

test('3 processes append at once: of thousands of lines each, none is lost', { timeout: 600_000 }, async () => {
  const lines = proving ? 20_000 : 1000;
  const appender = await bundled(
    folder,
    'appender',
    `import { appendEntry } from './src/checksums/append.ts';
     const [, , directory, who] = process.argv;
     for (let n = 0; n < ${lines}; n += 1) await appendEntry(directory, { name: who + n, sha256: '${HEX}' });`,
  );
  await writeFile(sums, '');
  const ended = await Promise.all(['a', 'b', 'c'].map((who) => start(appender, [folder, who]).ended));
  expect(ended).toEqual(['0', '0', '0']);
  const found = new Set((await text()).split('\n').map((line) => line.slice(66)));
  expect(found.size).toBe(3 * lines + 1);
});
