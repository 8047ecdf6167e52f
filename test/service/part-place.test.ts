import { lstat, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Directory } from '../../src/disk/directory.ts';
import { thisOwner } from '../../src/disk/owner.ts';
import { PartFile } from '../../src/transfer/part-file.ts';
import { partNames } from '../../src/transfer/part-name.ts';
import { ACCESSION, content, temporaryDirectory } from './transfer-fixture.ts';

const NAME = 'primary.htm';
const BYTES = content(5000);
const OWNER = thisOwner('test', process.pid, process.platform);
const IDENTITY = { base_url: 'http://h/', accession_no: ACCESSION, file_name: NAME };

async function placeIn(path: string) {
  const directory = await Directory.open(path, false);
  onTestFinished(() => directory.close());
  return { directory, final: NAME, owner: OWNER, serial: '1', identity: IDENTITY };
}

test.each(['part', 'resume'] as const)('a link planted in place of the %s is not followed', async (planted) => {
  const path = await temporaryDirectory();
  const victim = join(path, 'victim');
  await writeFile(victim, 'untouched');
  await symlink(victim, join(path, partNames(NAME, OWNER, '1')[planted]));
  const place = await placeIn(path);
  const work = async () => {
    const part = await PartFile.create(place);
    await part.begin({ kind: 'etag', value: '"v1"' }, 2 << 20);
  };
  await expect(work()).rejects.toMatchObject({ code: 'local_io' });
  expect(await readFile(victim, 'utf8')).toBe('untouched');
});

test.skipIf(process.platform !== 'linux')('a directory swapped for a link meanwhile changes nothing', async () => {
  const folder = await temporaryDirectory();
  const path = join(folder, 'target');
  await mkdir(path);
  await mkdir(join(folder, 'elsewhere'));
  const part = await PartFile.create(await placeIn(path));
  await part.begin(undefined, BYTES.length);
  await part.write([BYTES.subarray(0, 1000)]);
  await rename(path, join(folder, 'moved'));
  await symlink(join(folder, 'elsewhere'), path);
  await part.write([BYTES.subarray(1000)]);
  expect(await part.commit(false)).toBe(true);
  expect((await readFile(join(folder, 'moved', NAME))).equals(BYTES)).toBe(true);
  await expect(lstat(join(folder, 'elsewhere', NAME))).rejects.toMatchObject({ code: 'ENOENT' });
});
