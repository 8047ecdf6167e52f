import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ChecksumFiles } from '../../src/checksums/append.ts';
import { byteText, readSums, SUMS_NAME, sumsIn, sumsLine } from '../../src/checksums/read.ts';
import { verifyDirectory } from '../../src/checksums/verify.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

let folder: string;
let sums: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  sums = join(folder, 'SHA256SUMS');
});

test('reads a SHA256SUMS file once and counts the lines that it adds as listed', async () => {
  await writeFile(sums, `${HEX}  a\n\\${HEX}  b\\nc\n${HEX}  torn`);
  const files = new ChecksumFiles(true);
  const areListed = (...names: string[]) => Promise.all(names.map((name) => files.isListed(folder, name)));
  expect(await areListed('a', 'b\nc', 'torn', 'new')).toEqual([true, true, false, false]);
  await files.add(folder, 'é.htm', HEX);
  // Another process adds a line, which this run does not read.
  await appendFile(sums, `${HEX}  later\n`);
  expect(await areListed('é.htm', 'later')).toEqual([true, false]);
  const added = Buffer.from(`${HEX}  é.htm\n`).toString('latin1');
  expect(await readFile(sums, 'latin1')).toBe(`${HEX}  a\n\\${HEX}  b\\nc\n${added}${HEX}  later\n`);
});

describe('a torn last line', () => {
  const [ONE, NEW] = [`${HEX}  one\n`, `${HEX}  new\n`];

  test.each<[string, string, string]>([
    ['with a whole name', ONE, `${HEX}  two`],
    ['with half a name', ONE, `${HEX}  tw`],
    ['with half a hash', ONE, HEX.slice(0, 30)],
    ['of zeros', ONE, '\0'.repeat(70)],
    ['of zeros before a line feed', ONE, `${'\0'.repeat(70)}\n`],
    ['with zeros at its end, before a line feed', ONE, `${HEX}  tw\0\n`],
    ['with zeros at its start, before a line feed', ONE, `\0${HEX.slice(1)}  two\n`],
    ['of zeros over some pages', ONE, '\0'.repeat(10_000)],
    ['that is longer than a page', ONE, `${HEX}  ${'x'.repeat(5000)}`],
    ['that is the only one', '', `${HEX}  tw`],
    ['after a long line', `# ${'x'.repeat(5000)}\n`, `${HEX}  two`],
    ['after a line with zeros', `${HEX}  ze\0\n${ONE}`, `${HEX}  two`],
  ])('%s is removed before the next append', async (_, before, torn) => {
    await writeFile(sums, before + torn);
    await new ChecksumFiles(false).add(folder, 'new', HEX);
    expect(await readFile(sums, 'latin1')).toBe(before + NEW);
  });

  test.each<[string, string]>([
    ['that is empty', ''],
    ['of whole lines', ONE.repeat(200)],
    ['with Windows line breaks', `${HEX}  one\r\n`],
    ['with a damaged line before a whole one', `\0\0\n${ONE}`],
    ['that ends with a blank line', `${ONE}\n`],
  ])('is not seen in a file %s', async (_, before) => {
    await writeFile(sums, before);
    await new ChecksumFiles(false).add(folder, 'new', HEX);
    expect(await readFile(sums, 'latin1')).toBe(before + NEW);
  });

  test.each([
    ['ends at', (text: string, at: number) => text.slice(0, at)],
    ['leaves zeros from', (text: string, at: number) => text.slice(0, at).padEnd(text.length, '\0')],
    ['leaves zeros up to', (text: string, at: number) => text.slice(at).padStart(text.length, '\0')],
  ])('never makes an entry for a cut name, whatever byte a power cut %s', async (_, cut) => {
    // Some of these names begin with another one.
    const text = ['one', 'ex1.htm', 'ex1.htm.xml', 'ex1'].map((name) => `${HEX}  ${name}\n`).join('');
    const allowed = (await sumsIn([Buffer.from(text)])).entries;
    for (let at = 0; at < text.length; at += 1) {
      await writeFile(sums, cut(text, at));
      await new ChecksumFiles(false).add(folder, 'new', HEX);
      const { entries, isTorn } = await readSums(sums, sums);
      const names = [...entries.keys()].filter((name) => !allowed.has(name));
      expect([at, names, isTorn]).toEqual([at, ['new'], false]);
    }
  });

  test('is removed once by a run that adds many lines at once', async () => {
    await writeFile(sums, `${ONE}${HEX}  tw`);
    const files = new ChecksumFiles(false);
    const names = Array.from({ length: 100 }, (_, index) => `f${index}`);
    await Promise.all(names.map((name) => files.add(folder, name, HEX)));
    const lines = (await readFile(sums, 'latin1')).split('\n').filter(Boolean);
    expect(lines.sort()).toEqual(['one', ...names].map((name) => `${HEX}  ${name}`).sort());
  });
});

test('a symbolic link is an error, and its target is neither read nor written', async () => {
  const elsewhere = join(folder, 'elsewhere');
  await writeFile(elsewhere, 'untouched');
  await symlink(elsewhere, sums);
  const failure = { code: 'local_io', message: expect.stringContaining('SHA256SUMS: cannot') };
  await expect(new ChecksumFiles(true).isListed(folder, 'a')).rejects.toMatchObject(failure);
  await expect(new ChecksumFiles(true).add(folder, 'a', HEX)).rejects.toMatchObject(failure);
  expect(await readFile(elsewhere, 'utf8')).toBe('untouched');
});

test('flush fails if lines that must be flushed cannot be, even lines that another run wrote', async () => {
  for (const isListed of [false, true]) {
    for (const isFlushed of [true, false]) {
      await writeFile(sums, `${HEX}  a\n`);
      const files = new ChecksumFiles(isFlushed);
      await (isListed ? files.isListed(folder, 'a') : files.add(folder, 'b', HEX));
      await rm(sums);
      await mkdir(sums);
      const flushing = files.flush();
      if (isFlushed) await expect(flushing).rejects.toMatchObject({ code: 'local_io' });
      else await flushing;
      await rm(sums, { recursive: true });
      // The kernel reports a failed flush only once.
      await writeFile(sums, `${HEX}  a\n`);
      if (isFlushed) await expect(files.flush()).rejects.toMatchObject({ code: 'local_io' });
      else await files.flush();
    }
  }
});

test.each([
  ['darwin', ['same']],
  ['linux', ['same', 'unlisted']],
])('takes a name in another form of Unicode on %s, as HFS+ returns it, for %j', async (platform, results) => {
  const path = await temporaryDirectory();
  const name = '\u00fc.htm';
  await writeFile(join(path, name), '');
  const sha256 = createHash('sha256').digest('hex');
  await writeFile(join(path, SUMS_NAME), sumsLine({ name: byteText(name), sha256 }), 'latin1');
  const found: string[] = [];
  const names = [byteText(name.normalize('NFD'))];
  const directory = { path: byteText(path), displayPath: 'd', names, platform };
  for await (const { result } of verifyDirectory(directory, async () => {})) found.push(result);
  expect(found).toEqual(results);
});
