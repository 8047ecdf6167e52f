import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../program/run.ts';

// Runs the benchmarks at small sizes, which say nothing about speed or memory, because scripts that are only run by
// hand break unnoticed.
const bench = (script: string, args: readonly string[]) =>
  execa(process.execPath, [join(import.meta.dirname, '../../bench', script), ...args], {
    reject: false,
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  });

/** Returns the rows of a tiny run whose names match, and those of them that have a figure. */
async function rowsOf(only: string) {
  const { exitCode, stdout, stderr } = await bench('run.js', ['--tiny', '--only', only]);
  expect([exitCode, stderr]).toEqual([0, '']);
  // The first two lines are the heading and its rule.
  const rows = linesOf(stdout)
    .filter((line) => line.startsWith('|'))
    .slice(2);
  return { rows, measured: rows.filter((row) => /\d (x|kB|MB|%) /.test(row)) };
}

it('every row of the benchmark can be measured', async () => {
  const { rows, measured } = await rowsOf('^(?!.*(aria2c|wget2))');
  expect(measured).toEqual(rows);
  expect(rows.length).toBeGreaterThan(20);
});

describe.each(['aria2c', 'wget2'])('the row of %s', (program) => {
  const isInstalled = `${process.env.PATH}`.split(':').some((folder) => existsSync(join(folder, program)));

  it.skipIf(!isInstalled)('can be measured', async () => {
    const { rows, measured } = await rowsOf(program);
    expect([rows.length, measured.length]).toEqual([1, 1]);
  });
});

it('a soak mirrors every file in spite of the faults, and reports samples', async () => {
  const { stdout, exitCode } = await bench('soak.js', ['--minutes', '0.1', '--files', '400']);
  expect(stdout).toContain('exit status 0; 0 files missing or wrong; faults {"');
  expect(stdout).toMatch(/^\d{2,} samples over /m);
  // Memory does not settle within six seconds, so the verdict is tested in test/unit/soak-verdict.test.ts.
  const { isFlat, why } = JSON.parse(/^\d+ samples over .*?: (.*)$/m.exec(stdout)?.[1] ?? '');
  expect([exitCode, linesOf(stdout).at(-1)]).toEqual(
    isFlat ? [0, 'flat'] : [1, `NOT FLAT OR NOT WHOLE: ${why.join(', ')}`],
  );
});
