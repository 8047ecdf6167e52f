import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { BIN } from './program.ts';

const MAIN = join(BIN, '../../dist/main.js');

/** Runs the built program as whoever gets the caller's side wrong: without the project's folder. */
async function broken(...args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'filings-defect-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const caller = join(folder, 'caller.cjs');
  await writeFile(
    caller,
    `require(${JSON.stringify(MAIN)}).start(undefined).done.then((s) => { process.exitCode = s; })`,
  );
  return execa(process.execPath, [caller, ...args], { reject: false, extendEnv: false, env: {} });
}

test('a defect under --verbose says where it happened', async () => {
  const { exitCode, stderr } = await broken('--version', '--verbose');
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/at get version .*\(.*\/dist\/[\w.-]+:\d+:\d+\)/);
});

test('without it, a defect is one line and a hint', async () => {
  const { exitCode, stderr } = await broken('--version', '--color=never');
  expect(exitCode).toBe(1);
  expect(stderr.split('\n')).toHaveLength(2);
});
