import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, '../../../scripts/schedules.js');

const played = async (...args: string[]) => {
  // What was found stands on stdout, also where the status tells of it.
  const { stdout, stderr, failed } = await run(process.execPath, [SCRIPT, ...args], { maxBuffer: 1 << 26 }).then(
    (ended) => ({ ...ended, failed: false }),
    (error: { stdout: string; stderr: string }) => ({ ...error, failed: true }),
  );
  expect(failed, `${stdout}${stderr}`).toBe(false);
  return stdout;
};

test('whatever happens to runs, in whichever order: what is promised holds', async () => {
  // The same each time, so that a change is judged by itself; by hand the seed is fresh.
  const stdout = await played('--count', '300', '--seed', process.env.FILINGS_SEED ?? '1000');
  expect(stdout).toMatch(/^300 schedules from seed \d+, \d+ steps/);
  process.stdout.write(stdout);
});

test.each([
  ['a line of SHA256SUMS that another run on a full disk tears in front of it stands again', '29162'],
  ['a file that is asked for anew has its turn', '1147'],
])('%s', async (_what, seed) => {
  expect(await played('--count', '1', '--seed', seed)).toMatch(/^1 schedules from seed/);
});

test('a seed plays the same steps each time', async () => {
  const steps = async () =>
    (await played('--replay', '7')).replace(/[0-9a-f]{12}|schedule-\w+|filings-schedules-\w+/g, 'N');
  const first = await steps();
  expect(first).toMatch(/run \d\.\d: ends with 0\n$/);
  expect(await steps()).toBe(first);
});
