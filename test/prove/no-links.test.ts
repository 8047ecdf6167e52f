import { readdir } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { ACCESSION, serviceAt, test } from '../cli/program.ts';
import { whole } from '../servers/answers.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { mountExfat } from './exfat.ts';
import { MIRROR } from './mirror-line.ts';
import { treeOf } from './recipes/mirrored.ts';

// On file systems without hard links, such as FAT and some network file systems, the program looks whether the name
// exists, and then renames the part. prove/failing-calls has the errors of link. Only root can mount.
const FILE = content(1_500_000);
const NAME = 'primary.htm';
const [A, B] = [accession(1), accession(2)];

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

  // FUSE reports such a name with ENOENT, as if its directory were missing.
  test('a name with a question mark fails alone, and all others are fetched', async ({ place }) => {
    await mountExfat(place);
    const archive = await startArchive({ [A]: { 'a.htm': 'a', 'what?.htm': 'what' }, [B]: { 'b.htm': 'b' } });
    await place.write('in', `${A}\n${B}\n`);
    const { exitCode, stderr } = await place.filings([...MIRROR, '-d', 'disk'], archive.env);
    expect([exitCode, stderr]).toEqual([3, expect.stringMatching(/what\?\.htm: .* the file system refuses the name/)]);
    const paths = Object.keys(await treeOf(place.at('disk'))).filter((path) => !path.endsWith('SUMS'));
    expect(paths).toEqual([`${A}/a.htm`, `${B}/b.htm`]);
  });
});
