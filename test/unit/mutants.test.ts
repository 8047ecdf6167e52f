import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MUTANTS as POWER_CUT } from '../prove/power-cut/variant.ts';

interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const root = join(import.meta.dirname, '../..');
const { MUTANTS: HOSTILE } = await import(join(root, 'scripts/hostile-mutants.js'));

const BY_SEARCH: Readonly<Record<string, readonly (readonly [name: string, change: Change])[]>> = {
  'hostile answers': Object.entries<Change>(HOSTILE),
  'power cuts': Object.entries(POWER_CUT).map(([name, [file, from, to]]) => [name, { file, from, to }]),
};

// They are tried by hand: a source that moves on would leave them behind.
describe.each(Object.entries(BY_SEARCH))('the defects that %s have to find can still be made', (_search, mutants) => {
  test.each(mutants)('%s', (_name, { file, from, to }) => {
    expect(readFileSync(join(root, file), 'utf8').split(from)).toHaveLength(2);
    expect(to).not.toBe(from);
  });
});
