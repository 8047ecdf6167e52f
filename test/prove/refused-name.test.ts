import { rm } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { test } from '../cli/program.ts';
import { readReport } from '../program/batch.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { mountExfat } from './exfat.ts';
import { MIRROR } from './mirror-line.ts';
import { treeOf } from './recipes/mirrored.ts';

const [A, B, C] = [accession(1), accession(2), accession(3)];
const REFUSED = `${A}/what?.htm`;
const FILINGS = {
  [A]: { 'a.htm': 'a', 'what?.htm': 'what', 'z.htm': 'z' },
  [B]: { 'b.htm': 'b' },
  [C]: { 'c.htm': 'c' },
};

// FUSE reports such a name with ENOENT, as if its directory were missing. Only root can mount.
describe.runIf(process.geteuid?.() === 0)('on exFAT, which refuses a question mark in a name', () => {
  test('each run of a mirror fails that file alone, and fetches all others', async ({ place }) => {
    await mountExfat(place);
    const { env, asked } = await startArchive(FILINGS);
    /** Mirrors filings. Returns the requests for files, and the paths of the disk. */
    const mirror = async (...numbers: string[]) => {
      await place.write('in', numbers.map((number) => `${number}\n`).join(''));
      const before = asked().length;
      const { exitCode, stderr } = await place.filings([...MIRROR, '-d', 'disk', '--report', 'report'], env);
      const { files, summaries } = readReport(await place.read('report'));
      expect([exitCode, summaries.at(-1)], stderr).toMatchObject([3, { failed: 1, not_started: 0 }]);
      const { path, error } = files.findLast(({ result }) => result === 'failed') ?? {};
      expect([path, error?.code]).toEqual([`disk/${REFUSED}`, 'local_io']);
      expect(stderr).toContain('what?.htm: cannot write: the file system refuses the name');
      const fetched = asked()
        .slice(before)
        .filter((each) => each.includes('/'))
        .sort();
      return { fetched, disk: Object.keys(await treeOf(place.at('disk'))).filter((path) => !path.endsWith('SUMS')) };
    };
    const [a, z, b, c] = [`${A}/a.htm`, `${A}/z.htm`, `${B}/b.htm`, `${C}/c.htm`];
    expect(await mirror(A, B)).toEqual({ fetched: [a, REFUSED, z, b], disk: [a, z, b] });
    await rm(place.at(`disk/${z}`));
    expect(await mirror(A, B, C)).toEqual({ fetched: [REFUSED, z, c], disk: [a, z, b, c] });
    expect(await place.filings(['verify', 'disk'])).toMatchObject({ exitCode: 0 });
  });
});
