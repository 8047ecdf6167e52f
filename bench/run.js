// npm run bench: compares filings with curl and others. --quick uses small sizes and omits slow cases, --tiny only
// shows that every case works, and --only PATTERN selects cases by name. Without options, bench/RESULTS.md is written.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CASES } from './cases.js';
import { makeMaterial } from './material.js';
import { Bench } from './measure.js';
import { page, table, versionOf } from './results.js';
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

const TINY = {
  large: 2 ** 22,
  sparse: 2 ** 24,
  files: 20,
  filings: 5,
  manyFiles: 40,
  mostFiles: 40,
  present: 40,
  planned: 40,
  lines: 1000,
  longPairs: 1,
  shortPairs: 1,
  memoryRuns: 1,
};

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, tiny: { type: 'boolean' }, only: { type: 'string' } },
});
const sizes = values.tiny ? TINY : values.quick ? QUICK : FULL;
const only = new RegExp(values.only ?? '', 'i');
const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const peers = {
  nginx: versionOf('nginx', '-v'),
  curl: versionOf('curl', '--version'),
  aria2c: versionOf('aria2c', '--version'),
  wget2: versionOf('wget2', '--version'),
  openssl: versionOf('openssl', 'version'),
  sha256sum: versionOf('sha256sum', '--version'),
};
if (peers.nginx === undefined) throw new Error('nginx is not installed: there is nothing to download from');

const folder = mkdtempSync(join(tmpdir(), 'filings-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

/** Returns the row of a case that failed, so that the other cases still run. */
function failed(error) {
  process.exitCode = 1;
  process.stderr.write(`${error.message}\n`);
  return { figure: 'failed', within: false };
}

const print = (text) => process.stdout.write(`${text}\n`);
await makeMaterial(folder, { ...sizes, files: Math.max(sizes.manyFiles, sizes.mostFiles) });
// The first measurement would otherwise share the disk with pending writes.
execFileSync('sync');
const certificate = makeCertificate(folder);
const nginx = await startNginx(folder, join(folder, 'nginx'), { certificate });
try {
  const context = {
    bench: new Bench(folder, {}),
    filings: [process.execPath, join(root, 'bin', 'filings.js')],
    url: nginx.url,
    tls: { url: nginx.tlsUrl, ca: certificate?.cert },
    folder,
    sizes,
  };
  const rows = [];
  for (const { what: named, needs = [], slow, measure } of CASES) {
    const what = typeof named === 'string' ? named : named(sizes);
    if (!only.test(what) || (slow && values.quick)) continue;
    print(what);
    const missing = needs.find((program) => peers[program] === undefined);
    const row = { what, ...(missing ? { figure: `${missing} is missing` } : await measure(context).catch(failed)) };
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
