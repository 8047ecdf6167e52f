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
  await Promise.all(names.map((name, at) => (at % 2 ? sums : other).add(directory, name, A)));
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
  await sums.add(directory, 'y.htm', B);
  expect(await read()).toBe(`${A}  x.htm\n#${torn.slice(1)}\n${B}  y.htm\n`);
});

test('before other bytes replace a file, its lines become comments', async () => {
  const { directory, sums, read } = await withSums(`\ufeff${A}  x.htm\n${B}  y.htm\r\n${C}  x.htm\n${A}  x.htm\n`);
  await sums.commentOutStaleLines(directory, 'y.htm', B);
  await sums.commentOutStaleLines(directory, 'x.htm', C);
  const [a, c] = [A, C].map((hash) => `#${hash.slice(1)}  x.htm`);
  expect(await read()).toBe(`\ufeff${a}\n${B}  y.htm\r\n${c}\n${a}\n`);
  expect(await sums.isListed(directory, 'x.htm')).toBe(false);
});

test('no line becomes a comment that somebody has written in the place of the old one', async () => {
  const { directory, sums, read } = await withSums(`${A}  x.htm\n`);
  expect(await sums.isListed(directory, 'x.htm')).toBe(true);
  await writeFile(join(directory, 'SHA256SUMS'), `${B}  y.htm\n${C}  x.htm\n`);
  await sums.commentOutStaleLines(directory, 'x.htm', B);
  expect(await read()).toBe(`${B}  y.htm\n${C}  x.htm\n`);
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
