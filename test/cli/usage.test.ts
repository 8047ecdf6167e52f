import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../settings-world.ts';
import { BIN, NODE, started } from './program.ts';

/** Starts a command that reads a key from stdin, and waits until it reads. */
async function waitingForKey(env: Record<string, string> = {}) {
  const options = { env: { HOME: '/nonexistent', ...env } };
  const { stdin, kill, ended } = started([NODE, BIN, 'config', 'set', 'api-key'], options);
  // More than the buffer of a pipe. The write ends when the program has read most of it.
  await promisify(stdin.write.bind(stdin) as (data: string, then: () => void) => void)('x'.repeat(1_000_000));
  return { kill, ended: ended.then(({ exitCode, stderr }) => ({ exitCode, stderr })) };
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends a program that waits for stdin, with status %i', async (signal, status) => {
  const { kill, ended } = await waitingForKey();
  kill(signal);
  expect(await ended).toEqual({ exitCode: status, stderr: `filings: interrupted: ${signal}\n` });
});

test.each([
  ['throw new TypeError("broken")', 'TypeError: broken'],
  ['Promise.reject(new RangeError("broken"))', 'RangeError: broken'],
])('an unexpected error (%s) prints one line and a hint, and exits with 1', async (defect, message) => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  const breaking = await folder.file('breaking.cjs', `process.on('SIGUSR2', () => { ${defect}; });`);
  const { kill, ended } = await waitingForKey({ NODE_OPTIONS: `--require ${breaking}` });
  kill('SIGUSR2');
  expect(await ended).toEqual({
    exitCode: 1,
    stderr: `filings: a defect in the program: ${message}\n  hint: please report it; --verbose shows where it happened\n`,
  });
});
