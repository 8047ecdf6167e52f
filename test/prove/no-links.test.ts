import { readdir } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { ACCESSION, serviceAt, test } from '../cli/program.ts';
import { whole } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { mountExfat } from './exfat.ts';

// On file systems without hard links, such as FAT and some network file systems, the program looks whether the name
// exists, and then renames the part. prove/failing-calls has the errors of link. Only root can mount.
const FILE = content(1_500_000);
const NAME = 'primary.htm';

describe.runIf(process.geteuid?.() === 0)('on exFAT, which has no hard links and ignores case', () => {
  test('a file of an earlier run exists in any spelling, and stays unless it is to be replaced', async ({ place }) => {
    await mountExfat(place);
    const { url } = await scripted(whole(FILE));
    /** The exit status of a download, and the names in the directory after it. */
    const download = async (name: string, ifExists: string) => {
      const line = ['download', ACCESSION, name, '-d', 'disk', '--if-exists', ifExists];
      const { exitCode } = await place.filings(line, serviceAt(url));
      return [exitCode, ...(await readdir(place.at('disk')))];
    };
    expect(await download(NAME, 'error')).toEqual([0, NAME]);
    expect(await download(NAME, 'error')).toEqual([8, NAME]);
    expect(await download('PRIMARY.htm', 'error')).toEqual([8, NAME]);
    expect(await download('PRIMARY.htm', 'skip')).toEqual([0, NAME]);
    expect(await download('PRIMARY.htm', 'compare')).toEqual([0, NAME]);
    await place.write(`disk/${NAME}`, 'another file');
    expect(await download(NAME, 'compare')).toEqual([8, NAME]);
    expect(await download(NAME, 'overwrite')).toEqual([0, NAME]);
    expect((await place.read(`disk/${NAME}`)).equals(FILE)).toBe(true);
  });
});
