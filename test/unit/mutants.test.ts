import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS as POWER_CUT } from '../prove/power-cut/variant.ts';

const root = join(import.meta.dirname, '../..');
const { MUTANTS: HOSTILE } = await import(join(root, 'scripts/hostile-mutants.js'));

const changes = [
  ...Object.entries<{ file: string; from: string; to: string }>(HOSTILE),
  ...Object.entries(POWER_CUT).map(([name, [file, from, to]]) => [name, { file, from, to }] as const),
];

// These mutants are only tried by hand, so a change of their source would go unnoticed.
test.each(changes)('the source of the mutant occurs exactly once: %s', (_name, { file, from, to }) => {
  expect(readFileSync(join(root, file), 'utf8').split(from)).toHaveLength(2);
  expect(to).not.toBe(from);
});
