import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Waiting } from '../../src/disk/calls/disk.ts';
import { Directory } from '../../src/disk/directory/directory.ts';
import { otherSpelling, spelledOtherwise } from '../../src/disk/directory/spelling.ts';
import { temporaryDirectory } from '../service/transfer-fixture.ts';

function surroundings() {
  return { platform: process.platform, now: Date.now, waiting: new Waiting(() => performance.now()) };
}

describe('how a name is spelled that a disk takes for another', () => {
  test.each<[string, string[], string, string | undefined]>([
    ['exactly so', ['primary.htm'], 'primary.htm', undefined],
    ['in another case', ['a', 'primary.htm'], 'PRIMARY.htm', 'primary.htm'],
    ['in both cases: the disk tells them apart', ['PRIMARY.htm', 'primary.htm'], 'PRIMARY.htm', undefined],
    ['in another Unicode form', ['e\u0301.htm'], '\u00e9.htm', 'e\u0301.htm'],
    ['by full case folding', ['strasse.htm'], 'stra\u00dfe.htm', 'strasse.htm'],
    ['not at all', ['secondary.htm'], 'primary.htm', undefined],
  ])('%s', async (_, names, name, spelling) => {
    expect(await spelledOtherwise(names, name)).toBe(spelling);
  });

  test('on a disk that tells cases apart, another case is another file', async () => {
    const path = await temporaryDirectory();
    await writeFile(join(path, 'primary.htm'), '');
    const directory = await Directory.open(path, false, surroundings());
    onTestFinished(() => directory.close());
    expect(await otherSpelling(directory, 'primary.htm')).toBeUndefined();
    await writeFile(join(path, 'PRIMARY.HTM'), '');
    expect(await otherSpelling(directory, 'primary.htm')).toBeUndefined();
  });

  test('what a directory of many entries was seen to tell apart is not asked again; case and form are two questions', async () => {
    const path = await temporaryDirectory();
    for (let index = 0; index < 1100; index += 1) await writeFile(join(path, `other${index}`), '');
    const directory = await Directory.open(path, false, surroundings());
    onTestFinished(() => directory.close());
    expect(await directory.few()).toBeUndefined();
    await otherSpelling(directory, 'gone.htm');
    expect(directory.tellsApart).toEqual({ case: false, form: false });
    await otherSpelling(directory, 'other0');
    expect(directory.tellsApart).toEqual({ case: true, form: false });
    await writeFile(join(path, '\u00e9.htm'), '');
    await otherSpelling(directory, '\u00e9.htm');
    expect(directory.tellsApart).toEqual({ case: true, form: true });
  });

  test('other than in ASCII, a case that is told apart says nothing of the rest', async () => {
    const path = await temporaryDirectory();
    for (let index = 0; index < 1100; index += 1) await writeFile(join(path, `other${index}`), '');
    await writeFile(join(path, '\u00df'), '');
    const directory = await Directory.open(path, false, surroundings());
    onTestFinished(() => directory.close());
    await otherSpelling(directory, '\u00df');
    expect(directory.tellsApart).toEqual({ case: false, form: false });
  });
});
