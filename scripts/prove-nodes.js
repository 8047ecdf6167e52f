// Runs the tests of the built program that depend on Node on each other supported major version.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hasPackages, MAJORS, nodeOf } from './nodes.js';

const root = join(import.meta.dirname, '..');
const TESTS = ['commands', 'pipes', 'pooled-memory', 'signals', 'standard-streams', 'tls'];
const files = TESTS.map((name) => `test/cli/${name}.test.ts`);

// Vitest ignores the name of a missing file if another one exists.
const missing = files.filter((file) => !existsSync(join(root, file)));
if (missing.length > 0) fail(`not found: ${missing.join(', ')}`);
else if (hasPackages) {
  const others = MAJORS.filter((major) => nodeOf(major) !== process.execPath);
  const failed = others.filter((major) => !isFine(nodeOf(major)));
  if (failed.length > 0) fail(`failed on Node ${failed.join(', ')}`);
} else {
  process.stdout.write('skipped: other versions of Node, for which there are no packages on this platform\n');
  if (process.env.CI) process.exitCode = 1;
}

function fail(why) {
  process.stderr.write(`${why}\n`);
  process.exitCode = 1;
}

/** Returns true if the tests pass on a Node. */
function isFine(node) {
  process.stdout.write(`\nNode ${execFileSync(node, ['--version'])}`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, FILINGS_NODE: node };
  const options = { cwd: root, env, stdio: 'inherit' };
  return spawnSync(process.execPath, [vitest, 'run', '--project', 'cli', ...files], options).status === 0;
}
