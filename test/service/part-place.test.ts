import { link, lstat, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Places } from '../../src/transfer/places.ts';
import { PartFile } from '../../src/transfer/sinks/part/part-file.ts';
import { partNames } from '../../src/transfer/sinks/part/part-name.ts';
import { ACCESSION, content, temporaryDirectory, tenant } from './transfer-fixture.ts';

const NAME = 'primary.htm';
const BYTES = content(5000);
const { owner: OWNER, uid } = new Places(tenant());
const { signal } = new AbortController();
const IDENTITY = { base_url: 'http://h/', accession_no: ACCESSION, file_name: NAME };

async function placeIn(path: string) {
  const places = new Places(tenant());
  onTestFinished(() => places.close());
  return {
    ...(await places.at(path, false)),
    final: NAME,
    owner: OWNER,
    uid,
    nextSerial: () => places.nextSerial(),
    identity: IDENTITY,
  };
}

test.each<[string, (path: string, victim: string) => Promise<unknown>]>([
  ['a link', (path, victim) => symlink(victim, path)],
  ['a second name of another file', (path, victim) => link(victim, path)],
  ['a file', (path) => writeFile(path, 'planted')],
  ['a directory', (path) => mkdir(path)],
])('%s planted in place of the part is neither followed nor written to', async (_, plant) => {
  const path = await temporaryDirectory();
  const victim = join(path, 'victim');
  await writeFile(victim, 'untouched');
  const place = await placeIn(path);
  await plant(join(path, partNames(NAME, OWNER, '1').part), victim);
  const part = await PartFile.create(place);
  await part.begin(undefined, BYTES.length, '');
  await part.write([BYTES]);
  expect(await part.commit({ exclusive: true }, signal)).toBe('placed');
  expect((await readFile(join(path, NAME))).equals(BYTES)).toBe(true);
  expect(await readFile(victim, 'utf8')).toBe('untouched');
});

test.each<[string, (path: string, victim: string) => Promise<unknown>]>([
  ['a link', (path, victim) => symlink(victim, path)],
  ['a second name of another file', (path, victim) => link(victim, path)],
  ['a file', (path) => writeFile(path, 'planted')],
  ['a directory', (path) => mkdir(path)],
])('%s planted in place of the record is neither followed nor written to', async (_, plant) => {
  const path = await temporaryDirectory();
  const victim = join(path, 'victim');
  await writeFile(victim, 'untouched');
  const place = await placeIn(path);
  await plant(join(path, partNames(NAME, OWNER, '1').resume), victim);
  const part = await PartFile.create(place);
  await part.begin({ kind: 'etag', value: '"v1"' }, BYTES.length + (1 << 20), '');
  await part.write([BYTES]);
  expect(await part.commit({ exclusive: true }, signal)).toBe('placed');
  expect((await readFile(join(path, NAME))).equals(BYTES)).toBe(true);
  expect(await readFile(victim, 'utf8')).toBe('untouched');
});

test.skipIf(process.platform !== 'linux')('a directory swapped for a link meanwhile changes nothing', async () => {
  const folder = await temporaryDirectory();
  const path = join(folder, 'target');
  await mkdir(path);
  await mkdir(join(folder, 'elsewhere'));
  const part = await PartFile.create(await placeIn(path));
  await part.begin(undefined, BYTES.length, '');
  await part.write([BYTES.subarray(0, 1000)]);
  await rename(path, join(folder, 'moved'));
  await symlink(join(folder, 'elsewhere'), path);
  await part.write([BYTES.subarray(1000)]);
  expect(await part.commit({ exclusive: false }, signal)).toBe('placed');
  expect((await readFile(join(folder, 'moved', NAME))).equals(BYTES)).toBe(true);
  await expect(lstat(join(folder, 'elsewhere', NAME))).rejects.toMatchObject({ code: 'ENOENT' });
});
