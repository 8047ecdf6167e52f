import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Directory } from '../../src/disk/directory.ts';
import { collectSpellings, findExisting, findOtherSpelling } from '../../src/transfer/existing.ts';
import { processInfo, temporaryDirectory } from '../service/transfer-fixture.ts';

test.each<[string, string[], string, string | undefined]>([
  ['the same spelling', ['primary.htm'], 'primary.htm', undefined],
  ['another case', ['a', 'primary.htm'], 'PRIMARY.htm', 'primary.htm'],
  ['both cases exist', ['PRIMARY.htm', 'primary.htm'], 'PRIMARY.htm', undefined],
  ['another Unicode form, as HFS+ returns every name', ['e\u0301.htm'], '\u00e9.htm', undefined],
  ['another Unicode form and another case', ['E\u0301.htm'], '\u00e9.htm', 'E\u0301.htm'],
  ['full case folding', ['strasse.htm'], 'stra\u00dfe.htm', 'strasse.htm'],
  ['another name', ['secondary.htm'], 'primary.htm', undefined],
])('finds the existing spelling of the same name: %s', async (_, names, name, spelling) => {
  expect(await findOtherSpelling(await collectSpellings(names), name)).toBe(spelling);
});

test('learns that the disk distinguishes case, and another case is another file', async () => {
  const path = await temporaryDirectory();
  await writeFile(join(path, 'primary.htm'), '');
  const directory = await Directory.open(path, false, processInfo());
  expect(await findExisting(directory, 'PRIMARY.htm')).toEqual({ kind: 'nothing' });
  expect(directory.isCaseSensitive).toBe(false);
  expect(await findExisting(directory, 'primary.htm')).toMatchObject({ kind: 'file', stats: { size: 0 } });
  expect(directory.isCaseSensitive).toBe(true);
});

// A disk may fold ASCII alone, and a name without letters has no other case.
test.each(['\u00e9.\u00fc', '1234'])(
  'a name such as %s does not show whether a disk distinguishes case',
  async (name) => {
    const path = await temporaryDirectory();
    await writeFile(join(path, name), '');
    const directory = await Directory.open(path, false, processInfo());
    expect(await findExisting(directory, name)).toMatchObject({ kind: 'file' });
    expect(directory.isCaseSensitive).toBe(false);
  },
);
