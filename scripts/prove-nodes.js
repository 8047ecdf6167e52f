// Runs the tests of the built program that depend on Node on each other supported major version.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { areThere, MAJORS, nodeOf } from './nodes.js';

const TESTS = ['commands', 'pipes', 'proxy', 'signals', 'tls', 'usage'];

const root = join(import.meta.dirname, '..');

if (areThere) {
  const others = MAJORS.filter((major) => nodeOf(major) !== process.execPath);
  const failed = others.filter((major) => !isFine(nodeOf(major)));
  if (failed.length > 0) {
    process.stderr.write(`failed on Node ${failed.join(', ')}\n`);
    process.exitCode = 1;
  }
} else process.stdout.write('other versions of Node: not proved on this platform\n');

/** Returns true if the tests pass on a Node. */
function isFine(node) {
  process.stdout.write(`\nNode ${execFileSync(node, ['--version'])}`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--project', 'cli', ...TESTS.map((name) => `test/cli/${name}.test.ts`)];
  const env = { ...process.env, FILINGS_NODE: node };
  return spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'inherit' }).status === 0;
}
