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

// Plans, since a seed has another one when the generator changes.
test.each([
  ['a line of SHA256SUMS that another run on a full disk tears in front of it stands again', 'torn-sums-line'],
  ['a file that is asked for anew has its turn', 'asked-anew'],
  ['a clock that is set back while an error is read makes no wait longer', 'clock-set-back'],
  ['a run that ends as its heartbeat asks for the time leaves nothing', 'heartbeat-at-the-end'],
  ['a part that a full disk gives no name is dropped, whoever has its number by then', 'closed-descriptor'],
])('%s', async (_what, plan) => {
  expect(await played('--plan', join(import.meta.dirname, `found/${plan}.json`))).toMatch(/ends with 0\n$/);
});

test('a seed plays the same steps each time', async () => {
  const steps = async () =>
    (await played('--replay', '7')).replace(/[0-9a-f]{12}|schedule-\w+|filings-schedules-\w+/g, 'N');
  const first = await steps();
  expect(first).toMatch(/run \d\.\d: ends with 0\n$/);
  expect(await steps()).toBe(first);
});
