// Draws README's picture, docs/picture.svg, from what the built program shows on a terminal; with --check it writes
// nothing, and fails where the picture would be another one.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const isCheck = process.argv.includes('--check');
const args = ['run', '--project', 'prove', 'scripts/picture/picture.test.ts', ...(isCheck ? [] : ['--update'])];
// There vitest writes no picture that is missing.
const env = isCheck ? { ...process.env, CI: '1' } : process.env;
process.exitCode = spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'inherit' }).status ?? 1;
