// Builds one file that holds the program, all that it reads of its own, and the Node that runs this script:
// node scripts/executable/build.js [FILE], without one filings-VERSION-PLATFORM-ARCH here. Beside it nothing is needed; the
// licences of all that is in it are in FILE.LICENSES, to be given away with it.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { assetsIn } from './assets.js';
import { bundleTo, MAIN } from './bundle.js';
import { executableLicences } from './licences.js';

/** What Node looks for in itself, to find out whether it holds a program. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const root = join(import.meta.dirname, '../..');

/** Throws where this Node can't be one. */
async function buildExecutable(target) {
  const licences = executableLicences(root, realpathSync(process.execPath));
  const folder = mkdtempSync(join(tmpdir(), 'filings-executable-'));
  try {
    const output = join(folder, 'filings');
    const main = await bundleTo(folder);
    run(process.execPath, [join(import.meta.dirname, 'warm.cjs'), MAIN, join(folder, MAIN)], root);
    const config = { main, output, assets: assetsIn(folder), disableExperimentalSEAWarning: true };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    embed(folder, output);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(output, target);
    chmodSync(target, 0o755);
    writeFileSync(`${target}.LICENSES`, licences);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Makes the executable from its configuration: https://nodejs.org/api/single-executable-applications.html */
function embed(folder, output) {
  // Node 25.5 and later put the program into themselves.
  if (isNode(25, 5)) return run(process.execPath, ['--build-sea', 'config.json'], folder);
  // Older ones make a blob of it, which another program puts into a copy of Node.
  run(process.execPath, ['--experimental-sea-config', 'config.json'], folder);
  const blob = join(folder, 'blob');
  copyFileSync(output, blob);
  copyFileSync(process.execPath, output);
  chmodSync(output, 0o755);
  if (!readFileSync(output).includes(FUSE)) {
    throw new Error(`${process.execPath}: Node is in a library beside it: take one of nodejs.org`);
  }
  const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
  const postject = join(root, 'node_modules/postject/dist/cli.js');
  run(process.execPath, [postject, output, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE, ...segment], folder);
  // What was signed is another file now.
  if (process.platform === 'darwin') run('codesign', ['--sign', '-', output], folder);
}

function isNode(major, minor) {
  const [ours = 0, after = 0] = process.versions.node.split('.').map(Number);
  return ours > major || (ours === major && after >= minor);
}

/** What it says matters only when it fails. */
function run(program, args, cwd) {
  const env = { ...process.env, NODE_OPTIONS: '' };
  execFileSync(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const target = resolve(process.argv[2] ?? `filings-${version}-${process.platform}-${process.arch}`);
await buildExecutable(target);
process.stdout.write(`${target}\n${target}.LICENSES\n`);
