// Runs the tests of the built program that a Node could break on each other major version of Node that is supported.
// They are installed below a temporary folder, from the packages that hold Node's binaries.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAJORS = [20, 22, 24, 26];
const TESTS = ['commands', 'compile-cache', 'defect', 'pipes', 'proxy', 'signals', 'tls', 'tls-end', 'usage'];

const root = join(import.meta.dirname, '..');
const platform = `${process.platform}-${process.arch}`;
const current = Number(process.versions.node.split('.')[0]);
const others = MAJORS.filter((major) => major !== current);

if (platform === 'linux-x64' || platform === 'linux-arm64') {
  const failed = others.filter((major) => !isFine(major));
  if (failed.length > 0) {
    process.stderr.write(`failed on Node ${failed.join(', ')}\n`);
    process.exitCode = 1;
  }
} else process.stdout.write(`other versions of Node: not proved on ${platform}\n`);

/** Whether the tests pass on a version of Node. */
function isFine(major) {
  const folder = mkdtempSync(join(tmpdir(), 'filings-node-'));
  try {
    const node = installed(major, folder);
    process.stdout.write(`\nNode ${execFileSync(node, ['--version'])}`);
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const args = ['run', '--project', 'cli', ...TESTS.map((name) => `test/cli/${name}.test.ts`)];
    const env = { ...process.env, FILINGS_NODE: node };
    return spawnSync(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'inherit' }).status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The path of a version of Node, which it installs into a folder. */
function installed(major, folder) {
  const name = `node-${platform}`;
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', `${name}@${major}`];
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return join(folder, 'node_modules', name, 'bin/node');
}
