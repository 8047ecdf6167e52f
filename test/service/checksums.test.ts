import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFile,
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { appendsAreAtomic } from '../../src/disk/network-disk.ts';
import { appendLines } from '../../src/transfer/checksums/append.ts';
import { ChecksumFiles } from '../../src/transfer/checksums/checksum-files.ts';
import { rewriteSums } from '../../src/transfer/checksums/rewrite.ts';
import { ABANDONED_MS, RewriteLock } from '../../src/transfer/checksums/rewrite-lock.ts';
import { proving } from '../proving.ts';
import { bundled, start } from './checksums-processes.ts';

const execute = promisify(execFile);
const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const OTHER = createHash('sha256').update('other').digest('hex');
const uid = process.getuid?.();
const never = new AbortController().signal;

let folder: string;
let sums: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filings-sums-'));
  sums = join(folder, 'SHA256SUMS');
  return () => rm(folder, { recursive: true, force: true });
});

const text = () => readFile(sums, 'latin1');
const append = (line: string) => appendLines({ path: sums, shown: sums, uid }, Buffer.from(line, 'latin1'));
const prune = (signal = never, leftovers: string[] = []) =>
  rewriteSums({ sums: 'SHA256SUMS', entry: (name) => join(folder, name), shown: sums, uid, leftovers }, signal);
const keeper = { shard: undefined, platform: process.platform, uid, now: Date.now };
const place = (path = folder) => ({ path, entry: (name: string) => join(path, name) });

describe('an append', () => {
  test('makes the file, and goes to its end', async () => {
    await append(`${HEX}  a\n`);
    await append(`${HEX}  b\n`);
    expect(await text()).toBe(`${HEX}  a\n${HEX}  b\n`);
  });

  test('after a torn line begins with a line break', async () => {
    await writeFile(sums, `${HEX}  a\n${HEX.slice(0, 30)}`);
    await append(`${HEX}  b\n`);
    expect(await text()).toBe(`${HEX}  a\n${HEX.slice(0, 30)}\n${HEX}  b\n`);
  });

  test.each<[string, (elsewhere: string) => Promise<unknown>, RegExp]>([
    ['a link', (elsewhere) => symlink(elsewhere, sums), /symbolic link/],
    ['another name of a file', (elsewhere) => link(elsewhere, sums), /hard link/],
    ['a FIFO', () => execute('mkfifo', [sums]), /no plain file/],
    ['a directory', () => mkdir(sums), /directory/],
  ])('to %s is refused', async (_, plant, told) => {
    const elsewhere = join(folder, 'elsewhere');
    await writeFile(elsewhere, 'untouched');
    await plant(elsewhere);
    await expect(append(`${HEX}  a\n`)).rejects.toMatchObject({
      code: 'local_io',
      message: expect.stringMatching(told),
    });
    expect(await readFile(elsewhere, 'utf8')).toBe('untouched');
  });

  test('to another user’s file is refused', async () => {
    await writeFile(sums, '');
    const file = { path: sums, shown: sums, uid: (uid ?? 0) + 1 };
    await expect(appendLines(file, Buffer.from('x\n'))).rejects.toThrow(/another user owns it/);
    expect(await text()).toBe('');
  });

  test('that the disk takes half of is an error, and the next begins with a line break', async () => {
    const program = await bundled(
      folder,
      'appender',
      `import { appendLines } from './src/transfer/checksums/append.ts';
       const file = { path: process.argv[2], shown: 'SHA256SUMS', uid: process.getuid() };
       await appendLines(file, Buffer.from('${HEX}  ' + 'a'.repeat(200) + '\\n'));`,
    );
    await writeFile(sums, `${HEX}  ${'b'.repeat(833)}\n`);
    // 1,024 bytes a file, of which 900 are there.
    const ended = await execute('bash', ['-c', `ulimit -f 1; ${process.execPath} ${program} ${sums}`]).catch(
      (error) => error,
    );
    expect(ended.stderr).toMatch(/larger than may be written here/);
    expect((await stat(sums)).size).toBe(1024);
    await append(`${HEX}  c\n`);
    expect((await text()).split('\n').slice(2)).toEqual([`${HEX}  c`, '']);
  });
});

describe('what is listed', () => {
  test('is read once, and kept right by what is added', async () => {
    await writeFile(sums, `${HEX}  a\n\\${HEX}  b\\nc\n${HEX}  torn`);
    const files = new ChecksumFiles(keeper);
    const listed = (name: string) => files.isListed(place(), name);
    expect([await listed('a'), await listed('b\nc'), await listed('torn'), await listed('new')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    await files.add(place(), 'é.htm', HEX);
    expect(await listed('é.htm')).toBe(true);
    // Another process's line: this run does not read again.
    await appendFile(sums, `${HEX}  later\n`);
    expect(await listed('later')).toBe(false);
    expect(await text()).toBe(
      `${HEX}  a\n\\${HEX}  b\\nc\n${HEX}  torn\n${Buffer.from(`${HEX}  é.htm\n`).toString('latin1')}${HEX}  later\n`,
    );
  });

  test('of more directories than are remembered is right, too', async () => {
    const files = new ChecksumFiles(keeper);
    const places = Array.from({ length: 600 }, (_, index) => place(join(folder, `${index}`)));
    for (const { path } of places) await mkdir(path);
    for (const one of places) await files.add(one, 'a', HEX);
    for (const one of places)
      expect([await files.isListed(one, 'a'), await files.isListed(one, 'b')]).toEqual([true, false]);
  });

  test('in a directory that can’t be read is an error', async () => {
    await symlink(join(folder, 'elsewhere'), sums);
    await expect(new ChecksumFiles(keeper).isListed(place(), 'a')).rejects.toMatchObject({ code: 'local_io' });
  });

  test('by a shard goes to the common file on a disk of this machine, to its own elsewhere', async () => {
    const shard = { index: 2, count: 3 };
    await new ChecksumFiles({ ...keeper, shard }).add(place(), 'a', HEX);
    // A platform that does not tell: as on a network disk.
    const elsewhere = new ChecksumFiles({ ...keeper, shard, platform: 'unknown' });
    await elsewhere.add(place(), 'b', HEX);
    expect(await text()).toBe((await appendsAreAtomic(folder, process.platform)) ? `${HEX}  a\n` : '');
    expect(await readFile(`${sums}.2-of-3`, 'utf8')).toBe(`${HEX}  b\n`);
    expect([await elsewhere.isListed(place(), 'a'), await elsewhere.isListed(place(), 'b')]).toEqual([true, true]);
  });
});

describe('a rewrite', () => {
  test('is sorted, one entry a name, the last; permissions stay, nothing else does', async () => {
    await writeFile(
      sums,
      `${HEX}  b\n${HEX}  a\nnonsense\n${OTHER} *b\r\n\\${HEX}  x\\ny\n${HEX}  \xe9\n${HEX}  c`,
      'latin1',
    );
    await chmod(sums, 0o640);
    await writeFile(join(folder, '.SHA256SUMS.0123456789ab.new'), 'of a dead process');
    await prune(never, ['.SHA256SUMS.0123456789ab.new']);
    expect(await text()).toBe(`${HEX}  a\n${OTHER}  b\n${HEX}  c\n\\${HEX}  x\\ny\n${HEX}  \xe9\n`);
    expect((await stat(sums)).mode & 0o777).toBe(0o640);
    expect(await readdir(folder)).toEqual(['SHA256SUMS']);
  });

  test('is one at a time', async () => {
    let within = 0;
    const alone = async () => {
      const lock = await RewriteLock.take('SHA256SUMS', (name) => join(folder, name), never);
      within += 1;
      for (let turn = 0; turn < 10; turn += 1) await readdir(folder);
      expect(within).toBe(1);
      within -= 1;
      await lock.release();
    };
    await Promise.all([alone(), alone(), alone(), alone()]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('waits for one that is alive until the signal, and not for a dead one', async () => {
    await writeFile(sums, `${HEX}  b\n${HEX}  a\n`);
    const lock = join(folder, '.SHA256SUMS.lock');
    await writeFile(lock, '.');
    await expect(prune(AbortSignal.timeout(300))).rejects.toThrow(/timeout/);
    expect(await text()).toBe(`${HEX}  b\n${HEX}  a\n`);
    const longAgo = (Date.now() - ABANDONED_MS - 1000) / 1000;
    await utimes(lock, longAgo, longAgo);
    await prune();
    expect(await text()).toBe(`${HEX}  a\n${HEX}  b\n`);
    expect(await readdir(folder)).toEqual(['SHA256SUMS']);
  });

  test('whose lock was taken for a dead one’s changes nothing', async () => {
    await writeFile(sums, '');
    const entry = (name: string) => join(folder, name);
    const lock = await RewriteLock.take('SHA256SUMS', entry, never);
    await rm(join(folder, '.SHA256SUMS.lock'));
    await expect(lock.requireHeld(sums)).rejects.toMatchObject({ code: 'local_io' });
    const next = await RewriteLock.take('SHA256SUMS', entry, never);
    await lock.release();
    await next.requireHeld(sums);
    await next.release();
    expect(await readdir(folder)).toEqual(['SHA256SUMS']);
  });

  test('of another user’s file is refused, and leaves it', async () => {
    await writeFile(sums, `${HEX}  b\n${HEX}  a\n`);
    const work = { sums: 'SHA256SUMS', entry: (name: string) => join(folder, name), shown: sums, leftovers: [] };
    await expect(rewriteSums({ ...work, uid: (uid ?? 0) + 1 }, never)).rejects.toThrow(/another user owns it/);
    expect([await text(), await readdir(folder)]).toEqual([`${HEX}  b\n${HEX}  a\n`, ['SHA256SUMS']]);
  });
});

test('3 appenders and 1 rewriter at once: of thousands of lines each, none is lost', { timeout: 600_000 }, async () => {
  const lines = proving ? 20_000 : 3000;
  const appender = await bundled(
    folder,
    'appender',
    `import { appendLines } from './src/transfer/checksums/append.ts';
     const [, , path, who] = process.argv;
     const file = { path, shown: path, uid: process.getuid() };
     for (let n = 0; n < ${lines}; n += 1) await appendLines(file, Buffer.from('${HEX}  ' + who + n + '\\n'));`,
  );
  const rewriter = await bundled(
    folder,
    'rewriter',
    `import { rewriteSums } from './src/transfer/checksums/rewrite.ts';
     const [, , folder] = process.argv;
     const entry = (name) => folder + '/' + name;
     const work = { sums: 'SHA256SUMS', entry, shown: folder, uid: process.getuid(), leftovers: [] };
     for (;;) { await rewriteSums(work, new AbortController().signal); process.stdout.write('.'); }`,
  );
  await writeFile(sums, '');
  const rewriting = start(rewriter, [folder]);
  await rewriting.line();
  let rewrites = 0;
  let running = true;
  const counting = (async () => {
    while (running) {
      await rewriting.line();
      rewrites += 1;
    }
  })();
  const ended = await Promise.all(['a', 'b', 'c'].map((who) => start(appender, [sums, who]).ended));
  running = false;
  await counting;
  rewriting.kill();
  await rewriting.ended;
  expect(ended).toEqual(['0', '0', '0']);
  expect(rewrites).toBeGreaterThan(3);
  const found = new Set((await text()).split('\n').map((line) => line.slice(66)));
  const lost = ['a', 'b', 'c'].flatMap((who) =>
    Array.from({ length: lines }, (_, n) => `${who}${n}`).filter((name) => !found.has(name)),
  );
  expect(lost.length).toBe(0);
});

test('2 rewriters at once take turns, and lose nothing that a third process appends', {
  timeout: 600_000,
}, async () => {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  await writeFile(sums, '');
  let appending = true;
  const pruning = async () => {
    while (appending) await prune();
  };
  const both = Promise.all([pruning(), pruning()]);
  for (let n = 0; n < 500; n += 1) await append(`${HEX}  ${n}\n`);
  appending = false;
  await both;
  await prune();
  expect((await text()).split('\n').length).toBe(501);
  expect(await readdir(folder)).toEqual(['SHA256SUMS']);
});
