import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ChecksumFiles } from '../../src/checksums/sums-files.ts';
import { first, framed, whole } from '../servers/answers.ts';
import { content, runAgainst, startRun, temporaryDirectory } from './transfer-fixture.ts';

const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];

/** A directory with the text of a SHA256SUMS. */
async function withSums(text: string) {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'SHA256SUMS'), text);
  return { directory, sums: new ChecksumFiles(), read: () => readFile(join(directory, 'SHA256SUMS'), 'utf8') };
}

test('lines of several runs remain', async () => {
  const { directory, sums, read } = await withSums('');
  const other = new ChecksumFiles();
  const names = Array.from({ length: 50 }, (_, at) => `f${at}.htm`);
  await Promise.all(names.map((name, at) => (at % 2 ? sums : other).announce(directory, name, A)));
  expect((await read()).split('\n').sort()).toEqual(['', ...names.map((name) => `${A}  ${name}`)].sort());
});

test.each`
  part                | torn
  ${'name'}           | ${`${B}  y.h`}
  ${'hash'}           | ${'bbbb'}
  ${'break'}          | ${`${B}  y.htm`}
  ${'block of zeros'} | ${'\0'.repeat(70_000)}
`('a line with a torn $part becomes a comment', async ({ torn }: { torn: string }) => {
  const { directory, sums, read } = await withSums(`${A}  x.htm\n${torn}`);
  expect(await sums.isListed(directory, 'y.htm')).toBe(false);
  await sums.announce(directory, 'y.htm', B);
  expect(await read()).toBe(`${A}  x.htm\n#${torn.slice(1)}\n${B}  y.htm\n`);
});

test('a line that another process has completed in the meantime is no fragment', async () => {
  const { directory, sums, read } = await withSums(`${A}  x.h`);
  const path = join(directory, 'SHA256SUMS');
  // The index is made of the fragment. The other process ends its line, and begins another one.
  expect(await sums.isListed(directory, 'x.htm')).toBe(false);
  await writeFile(path, `tm\n${B}  y`, { flag: 'a' });
  await sums.announce(directory, 'z.htm', C);
  expect(await read()).toBe(`${A}  x.htm\n#${B.slice(1)}  y\n${C}  z.htm\n`);
});

test('an entry is appended unless the last one has the same hash, and then the older ones become comments', async () => {
  const { directory, sums, read } = await withSums(`\ufeff${A}  x.htm\n${B}  y.htm\r\n${C}  x.htm\n${A}  x.htm\n`);
  await sums.announce(directory, 'y.htm', B);
  await sums.announce(directory, 'x.htm', B);
  expect(await read()).toBe(`\ufeff${A}  x.htm\n${B}  y.htm\r\n${C}  x.htm\n${A}  x.htm\n${B}  x.htm\n`);
  await sums.retireOlderEntries(directory, 'y.htm');
  await sums.retireOlderEntries(directory, 'x.htm');
  const [a, c] = [A, C].map((hash) => `#${hash.slice(1)}  x.htm`);
  expect(await read()).toBe(`\ufeff${a}\n${B}  y.htm\r\n${c}\n${a}\n${B}  x.htm\n`);
});

test('a run that finds an entry retires the older ones, which a killed run has left', async () => {
  const { directory, sums, read } = await withSums(`${A}  x.htm\n${B}  x.htm\n`);
  expect(await sums.isListed(directory, 'x.htm')).toBe(true);
  expect(await read()).toBe(`#${A.slice(1)}  x.htm\n${B}  x.htm\n`);
});

test('no line becomes a comment that somebody has written in the place of the old one', async () => {
  const { directory, sums, read } = await withSums(`${A}  x.htm\n`);
  expect(await sums.isListed(directory, 'x.htm')).toBe(true);
  await writeFile(join(directory, 'SHA256SUMS'), `${B}  y.htm\n${C}  x.htm\n`);
  await sums.announce(directory, 'x.htm', B);
  await sums.retireOlderEntries(directory, 'x.htm');
  expect(await read()).toBe(`${B}  y.htm\n${C}  x.htm\n${B}  x.htm\n`);
});

test('a line over 1 MiB is an error, whatever follows it', async () => {
  for (const end of ['', '\n', `\n${A}  x.htm\n`]) {
    const { directory, sums } = await withSums(`${'z'.repeat((1 << 20) + 1)}${end}`);
    await expect(sums.isListed(directory, 'x.htm')).rejects.toThrow('a line is longer than 1 MiB');
  }
});

test('the entry of a file is there before the file, and what the file was before is a comment after', async () => {
  const seen: string[] = [];
  const directory = await temporaryDirectory();
  const [old, file] = [content(100), content(200)];
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(directory, 'primary.htm'), old);
  await writeFile(join(directory, 'SHA256SUMS'), `${hash(old)}  primary.htm\n`);
  const { run } = await runAgainst(whole(file), { writesChecksums: true, directory, ifExists: 'overwrite' });
  const { nameOperations } = run.directories;
  const rename = async (from: string, to: string) => {
    seen.push(await readFile(join(directory, 'SHA256SUMS'), 'utf8'));
    return nameOperations.rename(from, to);
  };
  Object.assign(run.directories, { nameOperations: { ...nameOperations, rename } });
  expect(await run.save()).toMatchObject({ result: 'downloaded', sha256: hash(file) });
  seen.push(await readFile(join(directory, 'SHA256SUMS'), 'utf8'));
  const [before, after] = [old, file].map((bytes) => `${hash(bytes)}  primary.htm\n`) as [string, string];
  expect(seen).toEqual([before + after, `#${before.slice(1)}${after}`]);
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
