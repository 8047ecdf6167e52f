// Draws docs/picture.svg from the output of the built program on a terminal. With --check, writes nothing and fails if
// the picture would differ.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const isCheck = process.argv.includes('--check');
const args = ['run', '--project', 'prove', 'scripts/picture/picture.test.ts', ...(isCheck ? [] : ['--update'])];
// With this variable, vitest does not write a missing picture.
const env = isCheck ? { ...process.env, CI: '1' } : process.env;
process.exitCode = spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'inherit' }).status ?? 1;
