import { lchown, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ACCESSION } from './place.ts';
import { workplace } from './run.ts';

/** A file of ours, and a link that leads there from a directory that others may write to. */
async function linked(owner?: number) {
  const place = await workplace();
  await writeFile(join(place.path, 'ours'), 'ours\n');
  await symlink('ours', join(place.path, 'link'));
  if (owner !== undefined) await lchown(join(place.path, 'link'), owner, owner);
  return place;
}

const download = (names: readonly string[], option: string) => [
  'download',
  ACCESSION,
  ...names,
  `${option}=link`,
  '--sandbox',
];

describe.each(['--report'])('%s', (option) => {
  describe.skipIf(process.geteuid?.() !== 0)('behind a link that only root can give to another', () => {
    test.each([[['R1.htm']], [['R1.htm', 'primary.htm']]])('for %j nothing is written', async (names) => {
      const place = await linked(12345);
      const { exitCode, stderr } = await place.filings(download(names, option));
      expect(exitCode, stderr).toBe(2);
      expect(stderr).toMatch(
        new RegExp(`^filings: ${option} \\S+/link: it is another user's symbolic link\n {2}hint: `),
      );
      expect(String(await place.read('ours'))).toBe('ours\n');
      expect((await place.names()).sort()).toEqual(['link', 'ours']);
    });
  });

  test('behind a link of our own it is written', async () => {
    const place = await linked();
    const { exitCode, stderr } = await place.filings(download(['R1.htm', 'primary.htm'], option));
    expect(exitCode, stderr).toBe(0);
    expect(String(await place.read('ours'))).not.toBe('ours\n');
  });
});
