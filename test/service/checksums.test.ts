import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ChecksumFiles } from '../../src/checksums/append.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

let folder: string;
let sums: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  sums = join(folder, 'SHA256SUMS');
});

test('what is listed is read once, and kept right by what is added', async () => {
  await writeFile(sums, `${HEX}  a\n\\${HEX}  b\\nc\n${HEX}  torn`);
  const files = new ChecksumFiles(true);
  const listed = (...names: string[]) => Promise.all(names.map((name) => files.isListed(folder, name)));
  expect(await listed('a', 'b\nc', 'torn', 'new')).toEqual([true, true, false, false]);
  await files.add(folder, 'é.htm', HEX);
  // Another process's line: this run does not read again.
  await appendFile(sums, `${HEX}  later\n`);
  expect(await listed('é.htm', 'later')).toEqual([true, false]);
  const added = Buffer.from(`${HEX}  é.htm\n`).toString('latin1');
  expect(await readFile(sums, 'latin1')).toBe(`${HEX}  a\n\\${HEX}  b\\nc\n${HEX}  torn\n${added}${HEX}  later\n`);
});

test('a link is neither read nor appended to, and nothing is listed then', async () => {
  const elsewhere = join(folder, 'elsewhere');
  await writeFile(elsewhere, 'untouched');
  await symlink(elsewhere, sums);
  const refused = { code: 'local_io', message: expect.stringContaining('SHA256SUMS: cannot') };
  await expect(new ChecksumFiles(true).isListed(folder, 'a')).rejects.toMatchObject(refused);
  await expect(new ChecksumFiles(true).add(folder, 'a', HEX)).rejects.toMatchObject(refused);
  expect(await readFile(elsewhere, 'utf8')).toBe('untouched');
});

test('lines that can’t be flushed are an error where they are to be, those of another run, too', async () => {
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
    }
  }
});
