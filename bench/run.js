// npm run bench: compares filings with curl, aria2 and minimal Node scripts. --quick uses small sizes and leaves slow
// cases out, and --only PATTERN selects cases by name. Without options, bench/RESULTS.md is written.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { nodeOf } from '../scripts/nodes.js';
import { CASES } from './cases.js';
import { commands } from './commands.js';
import { makeMaterial } from './material.js';
import { Bench } from './measure.js';
import { allowed, page, ratio, table, versionOf } from './results.js';
import { makeCertificate, startNginx } from './servers.js';

const FULL = {
  large: 2 ** 30,
  sparse: 2 ** 32,
  files: 2000,
  filings: 100,
  manyFiles: 10_000,
  mostFiles: 100_000,
  present: 20_000,
  planned: 100_000,
  lines: 1_000_000,
  longPairs: 5,
  shortPairs: 15,
  memoryRuns: 3,
};
const QUICK = {
  large: 2 ** 27,
  sparse: 2 ** 29,
  files: 200,
  filings: 20,
  manyFiles: 1000,
  mostFiles: 1000,
  present: 2000,
  planned: 10_000,
  lines: 10_000,
  longPairs: 5,
  shortPairs: 7,
  memoryRuns: 1,
};

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' } } });
const sizes = values.quick ? QUICK : FULL;
const only = new RegExp(values.only ?? '', 'i');
const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const peers = {
  nginx: versionOf('nginx', '-v'),
  curl: versionOf('curl', '--version'),
  aria2c: versionOf('aria2c', '--version'),
  openssl: versionOf('openssl', 'version'),
  sha256sum: versionOf('sha256sum', '--version'),
};
if (peers.nginx === undefined) throw new Error('nginx is not installed, so there is nothing to download from');

const folder = mkdtempSync(join(tmpdir(), 'filings-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
const print = (text) => process.stdout.write(`${text}\n`);

await makeMaterial(folder, { ...sizes, files: Math.max(sizes.manyFiles, sizes.mostFiles) });
const oneFile = await bundled('one-file.js');
// The first measurement would otherwise share the disk with pending writes.
execFileSync('sync');
const certificate = makeCertificate(folder);
const nginx = await startNginx(folder, join(folder, 'nginx'), certificate);
const bench = new Bench(folder, {});
const program = join(root, 'bin', 'filings.js');
const context = {
  bench,
  commands,
  program,
  oneFile,
  filings: [process.execPath, program],
  node22: nodeOf(22),
  url: nginx.url,
  tls: { url: nginx.tlsUrl, ca: certificate?.cert },
  folder,
  sizes,
  /** Measures two commands. `share` converts the ratio of the runs into one of their parts. */
  async ratio(bound, ours, peer, { by, isShort, share = 1 } = {}) {
    const runs = await bench.pairs(ours, peer, isShort ? sizes.shortPairs : sizes.longPairs, by);
    const each = { ratio: runs.ratio * share, least: runs.least * share, most: runs.most * share };
    return ratio({ ...runs, ...each }, bound);
  },
  allowed: async (more, ours) =>
    allowed(await bench.pairs(ours, { argv: [process.execPath, '-e', '0'] }, sizes.longPairs), more),
};
try {
  const rows = [];
  for (const measurement of CASES) {
    const what = typeof measurement.what === 'string' ? measurement.what : measurement.what(sizes);
    if (!only.test(what) || (measurement.slow && values.quick)) continue;
    print(what);
    const missing = measurement.needs?.find((name) => peers[name] === undefined);
    const row = { what, ...(missing ? { figure: `${missing} is missing` } : await rowOf(measurement)) };
    print(`  ${[row.ours, row.peer, row.figure].filter(Boolean).join('  ')}`);
    rows.push(row);
  }
  print(`\n${table(rows)}`);
  if (sizes === FULL && values.only === undefined) {
    writeFileSync(join(import.meta.dirname, 'RESULTS.md'), page(rows, { sizes, version, peers }));
  }
} finally {
  await nginx.stop();
}

/** Measures a case. The row of a case that fails says so, so that the other cases still run. */
async function rowOf({ measure, pair, bound, ...options }) {
  try {
    if (measure) return await measure(context);
    const [ours, peer] = await pair(context);
    return await context.ratio(bound, ours, peer, options);
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${error.message}\n`);
    return { figure: 'failed', within: false };
  }
}

/** Bundles a script of bench/least/ as scripts/build.js bundles the program: without HTTP/2, as CommonJS. */
async function bundled(name) {
  const outfile = join(folder, `${name}.cjs`);
  const withoutHttp2 = {
    name: 'without-http2',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\/client-h2\.js$/ }, () => ({ path: 'none', namespace: 'none' }));
      onLoad({ filter: /.*/, namespace: 'none' }, () => ({ contents: '' }));
    },
  };
  const entry = join(import.meta.dirname, 'least', name);
  const options = { bundle: true, minify: true, platform: 'node', format: 'cjs', plugins: [withoutHttp2] };
  await build({ ...options, absWorkingDir: root, entryPoints: [entry], outfile });
  return outfile;
}
