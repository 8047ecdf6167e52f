import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Directory } from '../../src/disk/directory.ts';
import { presentAt, spelledOtherwise } from '../../src/transfer/present.ts';
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

test('on a disk that tells cases apart, another case is another file', async () => {
  const path = await temporaryDirectory();
  await writeFile(join(path, 'primary.htm'), '');
  const directory = await Directory.open(path, false, { platform: process.platform, now: Date.now });
  expect(await presentAt(directory, 'PRIMARY.htm', 'skip')).toBeUndefined();
  expect(directory.tellsCase).toBe(false);
  expect(await presentAt(directory, 'primary.htm', 'skip')).toMatchObject({ size: 0 });
  expect(directory.tellsCase).toBe(true);
});
