import { createHash } from 'node:crypto';
import { readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Announcement, SumsFile } from '../../src/checksums/sums-files.ts';
import { Directories } from '../../src/disk/directory.ts';
import { first, framed, whole } from '../servers/answers.ts';
import { content, directoryWorld, runAgainst, startRun, temporaryDirectory } from './transfer-fixture.ts';

const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];

/** A directory with the text of a SHA256SUMS. */
async function withSums(text: string) {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'SHA256SUMS'), text);
  const read = () => readFile(join(directory, 'SHA256SUMS'), 'utf8');
  const open = () => new SumsFile(directory, new Directories(directory, true, directoryWorld()));
  return { directory, sums: open(), another: open, read };
}

/** Lists a file as the download of it does. */
async function list(sums: SumsFile, name: string, hash: string): Promise<void> {
  await (await sums.announce(name, hash)).settle();
}

const asComment = (line: string) => `#${line.slice(1)}`;

test('lines of several runs remain', async () => {
  const { sums, another, read } = await withSums('');
  const other = another();
  const names = Array.from({ length: 50 }, (_, at) => `f${at}.htm`);
  await Promise.all(names.map((name, at) => list(at % 2 ? sums : other, name, A)));
  expect((await read()).split('\n').sort()).toEqual(['', ...names.map((name) => `${A}  ${name}`)].sort());
});

test.each`
  part                | torn
  ${'name'}           | ${`${B}  y.h`}
  ${'hash'}           | ${'bbbb'}
  ${'break'}          | ${`${B}  y.htm`}
  ${'block of zeros'} | ${'\0'.repeat(70_000)}
`('a line with a torn $part becomes a comment', async ({ torn }: { torn: string }) => {
  const { sums, read } = await withSums(`${A}  x.htm\n${torn}`);
  await list(sums, 'y.htm', B);
  await list(sums, 'z.htm', C);
  expect(await read()).toBe(`${A}  x.htm\n${asComment(torn)}\n${B}  y.htm\n${C}  z.htm\n`);
});

test('a line that another process has completed in the meantime is no fragment', async () => {
  const { directory, sums, read } = await withSums(`${A}  x.h`);
  const path = join(directory, 'SHA256SUMS');
  await sums.checkBeforeRequest();
  // The run has seen the fragment. The other process ends its line, and begins another one.
  await writeFile(path, `tm\n${B}  y`, { flag: 'a' });
  await list(sums, 'z.htm', C);
  expect(await read()).toBe(`${A}  x.htm\n${asComment(`${B}  y`)}\n${C}  z.htm\n`);
});

test('an entry is appended unless the last one has the same hash, and then the earlier ones become comments', async () => {
  const { sums, read } = await withSums(`\ufeff${A}  x.htm\n${B}  y.htm\r\n${C}  x.htm\n${A}  x.htm\n`);
  await list(sums, 'y.htm', B);
  const x = await sums.announce('x.htm', B);
  expect(await read()).toBe(`\ufeff${A}  x.htm\n${B}  y.htm\r\n${C}  x.htm\n${A}  x.htm\n${B}  x.htm\n`);
  await x.settle();
  const [a, c] = [asComment(`${A}  x.htm`), asComment(`${C}  x.htm`)];
  expect(await read()).toBe(`\ufeff${a}\n${B}  y.htm\r\n${c}\n${a}\n${B}  x.htm\n`);
  await list(sums, 'x.htm', A);
  expect(await read()).toBe(`\ufeff${a}\n${B}  y.htm\r\n${c}\n${a}\n${asComment(`${B}  x.htm`)}\n${A}  x.htm\n`);
});

test('an entry of another run that comes in between counts, and stays if it comes later', async () => {
  const { sums, another, read } = await withSums(`${A}  x.htm\n`);
  await sums.checkBeforeRequest();
  await list(another(), 'x.htm', B);
  const own = await sums.announce('x.htm', B);
  expect(await read()).toBe(`${asComment(`${A}  x.htm`)}\n${B}  x.htm\n`);
  await another().announce('x.htm', C);
  await own.settle();
  expect(await read()).toBe(`${asComment(`${A}  x.htm`)}\n${B}  x.htm\n${C}  x.htm\n`);
});

test('a withdrawn entry becomes a comment, and the one before it is the last again', async () => {
  const { sums, read } = await withSums(`${A}  x.htm\n`);
  await (await sums.announce('x.htm', B)).withdraw();
  expect(await read()).toBe(`${A}  x.htm\n${asComment(`${B}  x.htm`)}\n`);
  // This entry is of an earlier run, so it stays.
  await (await sums.announce('x.htm', A)).withdraw();
  expect(await read()).toBe(`${A}  x.htm\n${asComment(`${B}  x.htm`)}\n`);
});

test.each`
  entries                                                | text                                         | known        | after                                                            | hashes
  ${'no entry'}                                          | ${''}                                        | ${undefined} | ${`${B}  x.htm\n`}                                               | ${1}
  ${'one entry, whatever its hash'}                      | ${`${A}  x.htm\n`}                           | ${undefined} | ${`${A}  x.htm\n`}                                               | ${0}
  ${'several entries, of which the last is right'}       | ${`${A}  x.htm\n${C}  x.htm\n${B}  x.htm\n`} | ${undefined} | ${`#${A.slice(1)}  x.htm\n#${C.slice(1)}  x.htm\n${B}  x.htm\n`} | ${1}
  ${'several entries, of which the last is not right'}   | ${`${B}  x.htm\n${A}  x.htm\n`}              | ${undefined} | ${`${B}  x.htm\n${A}  x.htm\n`}                                  | ${1}
  ${'another entry than its bytes, which are confirmed'} | ${`${A}  x.htm\n`}                           | ${B}         | ${`#${A.slice(1)}  x.htm\n${B}  x.htm\n`}                        | ${0}
`('an existing file with $entries is listed as it should be', async ({ text, known, after, hashes }) => {
  const { sums, read } = await withSums(text);
  let hashed = 0;
  await sums.listExisting('x.htm', known, async () => {
    hashed += 1;
    return B;
  });
  expect([await read(), hashed]).toEqual([after, hashes]);
});

test('no line becomes a comment that somebody has written in the place of the old one', async () => {
  const { directory, sums, read } = await withSums(`${A}  x.htm\n`);
  const x = await sums.announce('x.htm', B);
  await writeFile(join(directory, 'SHA256SUMS'), `${B}  y.htm\n${C}  x.htm\n`);
  await x.settle();
  expect(await read()).toBe(`${B}  y.htm\n${C}  x.htm\n`);
  await list(sums, 'x.htm', B);
  expect(await read()).toBe(`${B}  y.htm\n${asComment(`${C}  x.htm`)}\n${B}  x.htm\n`);
});

test.each`
  change           | write
  ${'replaced'}    | ${(path: string, text: string) => writeFile(`${path}.new`, text).then(() => rename(`${path}.new`, path))}
  ${'overwritten'} | ${(path: string, text: string) => writeFile(path, text)}
`('a SHA256SUMS that was $change is read again', async ({ write }) => {
  const { directory, sums, read } = await withSums(`${'#'.repeat(199)}\n${A}  x.htm\n`);
  await sums.checkBeforeRequest();
  await write(join(directory, 'SHA256SUMS'), `${C}  y.htm\n${C}  x.htm\n`);
  await list(sums, 'x.htm', A);
  expect(await read()).toBe(`${C}  y.htm\n${asComment(`${C}  x.htm`)}\n${A}  x.htm\n`);
});

/** Puts a link in the place of the SHA256SUMS. Returns a function that puts it back. */
async function replaceByLink(directory: string) {
  const [path, elsewhere] = [join(directory, 'SHA256SUMS'), join(directory, 'elsewhere')];
  await rename(path, elsewhere);
  await symlink('elsewhere', path);
  return () => rename(elsewhere, path);
}

test('a flush that has failed is not tried again, because the second one would succeed without the lost bytes', async () => {
  const { directory, sums } = await withSums('');
  await sums.announce('x.htm', A);
  const restore = await replaceByLink(directory);
  const failed = expect.objectContaining({ code: 'local_io' });
  await expect(sums.flush()).rejects.toEqual(failed);
  await restore();
  await expect(sums.flush()).rejects.toEqual(failed);
});

test.each`
  step          | work
  ${'reading'}  | ${(_: SumsFile, another: () => SumsFile) => another().checkBeforeRequest()}
  ${'a check'}  | ${(sums: SumsFile) => sums.checkBeforeRequest()}
  ${'an entry'} | ${(sums: SumsFile) => sums.announce('x.htm', C)}
  ${'comments'} | ${(_: SumsFile, __: unknown, own: Announcement) => own.settle()}
  ${'a flush'}  | ${(sums: SumsFile) => sums.flush()}
`('a link that takes the place of SHA256SUMS is not followed for $step', async ({ work }) => {
  const { directory, sums, another, read } = await withSums(`${A}  x.htm\n`);
  const own = await sums.announce('x.htm', B);
  await replaceByLink(directory);
  const before = await read();
  const refused = expect.stringContaining('symbolic link');
  await expect(work(sums, another, own)).rejects.toMatchObject({ message: refused });
  expect(await read()).toBe(before);
});

test('a line over 1 MiB is an error of the whole directory, whatever follows it', async () => {
  for (const end of ['', '\n', `\n${A}  x.htm\n`]) {
    const { directory, sums } = await withSums(`${'z'.repeat((1 << 20) + 1)}${end}`);
    const failure = { code: 'integrity', reason: 'a line is longer than 1 MiB', failedDirectory: directory };
    for (const _ of [1, 2]) await expect(sums.checkBeforeRequest()).rejects.toMatchObject(failure);
  }
});

test('a file that was downloaded in several requests or runs has the hash of all its bytes', async () => {
  const file = content((4 << 20) + 12_345);
  const sha256 = createHash('sha256').update(file).digest('hex');
  const cutAt = (bytes: number) => first(framed(file, 'length', { ETag: '"v1"' }).upTo(bytes), whole(file));
  const { run } = await runAgainst(cutAt(4 << 20), { writesChecksums: true, retries: 1 });
  expect(await run.save()).toMatchObject({ result: 'resumed', sha256 });
  const { server, run: one } = await runAgainst(cutAt(1_400_000), { writesChecksums: true });
  await one.save();
  const next = await startRun(server.url, { writesChecksums: true, directory: one.directory });
  expect(await next.save()).toMatchObject({ result: 'resumed', sha256 });
});

test('many entries of one file become comments', async () => {
  const { sums, read } = await withSums(`${A}  x.htm\n`.repeat(50_000));
  const own = await sums.announce('x.htm', B);
  await own.settle();
  const old = `${asComment(`${A}  x.htm`)}\n`;
  expect(await read()).toBe(`${old.repeat(50_000)}${B}  x.htm\n`);
});

test.each([true, false])(
  'an entry whose file another run names first stays if the bytes are the same (%s)',
  async (isSame) => {
    const own = content(9);
    const other = isSame ? own : content(9);
    const { run } = await runAgainst(whole(own), { writesChecksums: true });
    const { nameOperations } = run.directories;
    const link = async (from: string, to: string) => {
      await writeFile(to, other);
      return nameOperations.link(from, to);
    };
    Object.assign(run.directories, { nameOperations: { ...nameOperations, link } });
    expect(await run.save()).toMatchObject({ result: 'skipped' });
    const [ownLine = '', otherLine] = [own, other].map(
      (bytes) => `${createHash('sha256').update(bytes).digest('hex')}  primary.htm\n`,
    );
    expect(`${await run.read('SHA256SUMS')}`).toBe(isSame ? ownLine : asComment(ownLine) + otherLine);
  },
);
