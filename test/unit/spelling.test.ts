import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Directory } from '../../src/disk/directory.ts';
import { existingAt, spelledOtherwise } from '../../src/transfer/existing.ts';
import { temporaryDirectory } from '../service/transfer-fixture.ts';

test.each<[string, string[], string, string | undefined]>([
  ['exactly so', ['primary.htm'], 'primary.htm', undefined],
  ['in another case', ['a', 'primary.htm'], 'PRIMARY.htm', 'primary.htm'],
  ['in both cases: the disk tells them apart', ['PRIMARY.htm', 'primary.htm'], 'PRIMARY.htm', undefined],
  ['in another Unicode form', ['e\u0301.htm'], '\u00e9.htm', 'e\u0301.htm'],
  ['by full case folding', ['strasse.htm'], 'stra\u00dfe.htm', 'strasse.htm'],
  ['not at all', ['secondary.htm'], 'primary.htm', undefined],
])('how a name is spelled that a disk takes for another: %s', async (_, names, name, spelling) => {
  expect(await spelledOtherwise(names, name)).toBe(spelling);
});

test('another case is another file on a disk that distinguishes case', async () => {
  const path = await temporaryDirectory();
  await writeFile(join(path, 'primary.htm'), '');
  const directory = await Directory.open(path, false, { platform: process.platform, now: Date.now });
  expect(await existingAt(directory, 'PRIMARY.htm')).toEqual({ kind: 'nothing' });
  expect(directory.isCaseSensitive).toBe(false);
  expect(await existingAt(directory, 'primary.htm')).toMatchObject({ kind: 'file', stats: { size: 0 } });
  expect(directory.isCaseSensitive).toBe(true);
});
