import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

// npm writes packages into its cache, and the home may be read-only.
const cache = await mkdtemp(join(tmpdir(), 'filings-npm-'));
afterAll(() => rm(cache, { recursive: true, force: true }));
const packing = ['pack', '--dry-run', '--json', '--ignore-scripts', '--cache', cache];
const { stdout } = await execa('npm', packing, { cwd: root });
const [{ files, size }] = JSON.parse(stdout) as [{ files: { path: string }[]; size: number }];
const paths = files.map(({ path }) => path);

test('the package is small and has the files that the program and its pages need', () => {
  expect(size).toBeLessThan(600_000);
  const needed = 'bin/filings.js dist/main.js docs/cron.md docs/recipes/cron/mirror.sh LICENSE SECURITY.md';
  expect(paths).toEqual(expect.arrayContaining(needed.split(' ')));
  expect(paths.filter((path) => /^(src|test|scripts|node_modules)\//.test(path))).toEqual([]);
});

test('the package has the licenses of the libraries that are bundled into it', async () => {
  expect(paths).toContain('THIRD-PARTY-LICENSES');
  const licences = await readFile(join(root, 'THIRD-PARTY-LICENSES'), 'utf8');
  for (const name of ['chalk', 'commander', 'jose', 'string-width', 'undici', 'zod']) {
    expect(licences).toMatch(new RegExp(`^${name} [\\d.]+ \\(MIT\\)\\n\\n[^-]*copyright`, 'im'));
  }
});
