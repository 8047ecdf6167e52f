import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('the package holds the licences of the libraries that are bundled into it', async () => {
  const packed = await execa('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
  const [{ files }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }];
  expect(files.map(({ path }) => path)).toContain('THIRD-PARTY-LICENSES');
  const licences = await readFile(join(root, 'THIRD-PARTY-LICENSES'), 'utf8');
  for (const name of ['chalk', 'commander', 'jose', 'string-width', 'undici', 'zod']) {
    expect(licences).toMatch(new RegExp(`^${name} [\\d.]+ \\(MIT\\)\\n\\n[^-]*copyright`, 'im'));
  }
});
