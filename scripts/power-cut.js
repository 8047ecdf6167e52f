// Cuts the power many more times than `npm run prove` does: `trace` between system calls, in a model of a disk; `images`
// under a file system that forgives nothing (as root). A number says how far: fates tried at each moment, or rounds of
// three cuts. `images` with --mutants tries all builds that are wrong on purpose; between system calls they always are.
// FILINGS_SEED makes other choices.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const WAYS = {
  trace: (size) => ({ FILINGS_POWER_CUT_EACH: size, FILINGS_POWER_CUT_AGAIN: '5' }),
  images: (size) => ({ FILINGS_POWER_CUT_ROUNDS: size, ...(mutants ? { FILINGS_POWER_CUT_MUTANTS: 'all' } : {}) }),
};

const mutants = process.argv.includes('--mutants');
const [way, size = '20'] = process.argv.slice(2).filter((word) => word !== '--mutants');
const root = join(import.meta.dirname, '..');
if (!Object.hasOwn(WAYS, way ?? '') || !/^[1-9]\d*$/.test(size)) {
  process.stderr.write('usage: node scripts/power-cut.js trace|images [NUMBER] [--mutants]\n');
  process.exitCode = 2;
} else {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--project', 'prove', '--maxWorkers=1', `test/prove/power-cut/${way}.test.ts`];
  const env = { ...process.env, ...WAYS[way](size) };
  process.exitCode = spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'inherit' }).status ?? 1;
}
