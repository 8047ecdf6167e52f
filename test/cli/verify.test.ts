import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workplace } from './program.ts';

test('a reader that goes away ends it with 141, quietly; a stdout that cannot be written with 8', async () => {
  const place = await workplace();
  const names = Array.from({ length: 20_000 }, (_, index) => `${'0'.repeat(64)}  f${index}\n`);
  await mkdir(join(place.path, 'a'));
  await writeFile(join(place.path, 'a/SHA256SUMS'), names.join(''));
  const { stdout, stderr } = await place.shell(`$FILINGS verify a -q | head -1; echo "\${PIPESTATUS[0]}"`);
  expect([stdout.toString().split('\n').slice(-2), stderr]).toEqual([['141', ''], '']);
  const full = await place.shell('$FILINGS verify a -q > /dev/full; echo $?');
  expect([full.stdout.toString(), full.stderr]).toEqual(['8\n', expect.stringMatching(/stdout: .*full/)]);
});
