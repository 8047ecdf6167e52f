// Simulates many more power cuts than `npm run prove`, between system calls, in a model of a disk. The argument is the
// number of random fates at each moment. FILINGS_SEED selects other fates.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const [size = '20'] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
if (!/^[1-9]\d*$/.test(size)) {
  process.stderr.write('usage: node scripts/power-cut.js [NUMBER]\n');
  process.exitCode = 2;
} else {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--project', 'prove', '--maxWorkers=1', 'test/prove/power-cut/trace.test.ts'];
  const env = { ...process.env, FILINGS_POWER_CUT_EACH: size, FILINGS_POWER_CUT_AGAIN: '5' };
  process.exitCode = spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'inherit' }).status ?? 1;
}
