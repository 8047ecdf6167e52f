import { expect } from 'vitest';
import { test } from '../../cli/program.ts';
import { startArchive } from '../../servers/archive.ts';
import { FILINGS, NUMBERS, programAt, treeOf } from './mirrored.ts';

test('GNU parallel as in docs/scaling.md mirrors the tree of one run, each file once', async ({ place }) => {
  const archive = await startArchive(FILINGS);
  await place.write('accessions.txt', NUMBERS.map((number) => `${number}\n`).join(''));
  const env = { ...archive.env, PATH: await programAt(place) };
  // Small blocks, so that each run gets some lines.
  const line =
    'parallel --pipe --round-robin --block 100 -j4 filings download -i - --all --checksums -q -d mirror --done mirror.done < accessions.txt';
  expect(await place.shell(line, env)).toMatchObject({ exitCode: 0 });
  const asked = [...archive.asked()];
  expect(new Set(asked).size).toBe(asked.length);
  const one = ['download', '-i', 'accessions.txt', '--all', '--checksums', '-d', 'one'];
  expect(await place.filings(one, archive.env)).toMatchObject({ exitCode: 0 });
  expect(await treeOf(place.at('mirror'))).toEqual(await treeOf(place.at('one')));
  const before = archive.asked().length;
  expect(await place.shell(line, env)).toMatchObject({ exitCode: 0 });
  expect(archive.asked()).toHaveLength(before);
});
