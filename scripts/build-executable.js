// Builds one file that holds the program, all that it reads of its own, and the Node that runs this script:
// node scripts/build-executable.js [FILE], without one filings-VERSION-PLATFORM-ARCH here. Beside it nothing is needed.
// The code is one CommonJS bundle, compiled in advance; samples, pages, completions, the code of the threads and the
// source map are assets, which bin/own-embedded.js and src/own-files.ts give to the rest of the program.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/** What Node looks for in itself, to find out whether it holds a program. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const ASSETS = ['package.json', 'completions', 'man', 'samples'];
const THREADS = {
  'hash-worker': 'src/disk/hash/hash-worker.ts',
  'hash-thread': 'src/transfer/checksums/verify/hash-thread.ts',
};
const MAIN = 'dist/filings.js';

const root = join(import.meta.dirname, '..');

/** Gives the path of the executable. Throws where this Node can't be one. */
export async function buildExecutable(target) {
  const folder = mkdtempSync(join(tmpdir(), 'filings-executable-'));
  try {
    const output = join(folder, 'filings');
    await bundle(folder);
    const config = writeConfig(folder, output);
    // Node 25.5 and later put the program into themselves.
    if (isNode(25, 5)) run(process.execPath, ['--build-sea', config], folder);
    else inject(config, folder, output);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(output, target);
    chmodSync(target, 0o755);
    return target;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The program, and each thread, as one file each. */
async function bundle(folder) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  };
  await build({ ...common, entryPoints: THREADS, outdir: join(folder, 'dist') });
  await build({
    ...common,
    entryPoints: ['bin/filings.js'],
    outfile: join(folder, MAIN),
    sourcemap: 'external',
    sourcesContent: false,
    plugins: [{ name: 'embedded', setup: embedded }],
  });
  const map = JSON.parse(readFileSync(join(folder, `${MAIN}.map`), 'utf8'));
  map.sources = map.sources.map((source) => relative(root, join(folder, 'dist', source)));
  writeFileSync(join(folder, `${MAIN}.map`), JSON.stringify(map));
}

/** What the package has beside it, the executable has within. */
function embedded({ onResolve }) {
  onResolve({ filter: /^\.\/own\.js$/ }, () => ({ path: join(root, 'bin/own-embedded.js') }));
}

/** What goes in, in the form of https://nodejs.org/api/single-executable-applications.html: the path of the file. */
function writeConfig(folder, output) {
  const own = ASSETS.flatMap(filesOf);
  const built = readdirSync(join(folder, 'dist'))
    .map((name) => `dist/${name}`)
    .filter((path) => path !== MAIN);
  const assets = Object.fromEntries([
    ...own.map((path) => [path, join(root, path)]),
    ...built.map((path) => [path, join(folder, path)]),
    ['contents.json', join(folder, 'contents.json')],
  ]);
  writeFileSync(join(folder, 'contents.json'), JSON.stringify([...own, ...built]));
  const config = { main: MAIN, output, assets, disableExperimentalSEAWarning: true, useCodeCache: true };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return 'config.json';
}

/** The files below a folder of the project, or the file itself. */
function filesOf(path) {
  const below = path.includes('.') ? [] : readdirSync(join(root, path), { recursive: true, withFileTypes: true });
  const files = below.filter((entry) => entry.isFile());
  return below.length === 0 ? [path] : files.map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}

/** The way of older ones: a blob, put into a copy of Node by a program of its own. */
function inject(config, folder, output) {
  run(process.execPath, ['--experimental-sea-config', config], folder);
  const blob = join(folder, 'blob');
  copyFileSync(output, blob);
  copyFileSync(process.execPath, output);
  chmodSync(output, 0o755);
  if (!readFileSync(output).includes(FUSE)) {
    throw new Error(`${process.execPath}: it is linked with a library of Node: take one of nodejs.org`);
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
  execFileSync(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
}

if (process.argv[1] === import.meta.filename) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const target = process.argv[2] ?? `filings-${version}-${process.platform}-${process.arch}`;
  process.stdout.write(`${await buildExecutable(resolve(target))}\n`);
}
