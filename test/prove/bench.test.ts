import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';

// Runs the benchmarks at small sizes, which say nothing about speed or memory, because scripts that are only run by
// hand break unnoticed.
const bench = (script: string, args: readonly string[]) =>
  execa(process.execPath, [join(import.meta.dirname, '../../bench', script), ...args], {
    reject: false,
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  });

it('the benchmark measures every row', async () => {
  const { exitCode, stdout, stderr } = await bench('run.js', ['--tiny']);
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  const rows = stdout.split('\n').filter((line) => /^\|.*(\d (x|MB|%)|is missing) /.test(line));
  expect(rows.length).toBeGreaterThan(20);
});

it('a soak mirrors every file in spite of the faults, and reports samples', async () => {
  const { stdout } = await bench('soak.js', ['--minutes', '0.1', '--files', '400']);
  expect(stdout).toContain('exit status 0; 0 files missing or wrong; faults {"');
  expect(stdout).toMatch(/^\d{2,} samples over /m);
  expect(stdout).toMatch(/^(flat|NOT FLAT)/m);
});
