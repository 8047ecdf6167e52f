// Provides other versions of Node, from npm packages with Node's binaries. Each is fetched once and cached until `npm
// ci`.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The supported major versions. */
export const MAJORS = [20, 22, 24, 26];

const platform = `${process.platform}-${process.arch}`;
/** True if such packages exist for this machine. */
export const areThere = ['linux-x64', 'linux-arm64'].includes(platform);

const cache = join(import.meta.dirname, '../node_modules/.cache/nodes');

/** The path of a Node of a major version: this one, or a fetched one. The file is named `node`. */
export function nodeOf(major) {
  if (major === Number(process.versions.node.split('.')[0])) return process.execPath;
  const node = join(cache, `${major}`, 'node');
  if (!existsSync(node)) fetchTo(node, major);
  return node;
}

function fetchTo(node, major) {
  const folder = mkdtempSync(join(tmpdir(), 'filings-node-'));
  try {
    const name = `node-${platform}`;
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', `${name}@${major}`];
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    mkdirSync(dirname(node), { recursive: true });
    // Renamed into place, so that a concurrent process finds a complete file or none.
    copyFileSync(join(folder, 'node_modules', name, 'bin/node'), `${node}.${process.pid}`);
    chmodSync(`${node}.${process.pid}`, 0o755);
    renameSync(`${node}.${process.pid}`, node);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
