// npm run soak: mirrors very many small files from servers with faults for a given time, and checks that the memory and
// descriptors of the program stay flat. --plot FILE draws them, --samples FILE saves them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { versionOf } from './results.js';
import { startNginx } from './servers.js';
import { makeArchive } from './soak/archive.js';
import { startFront } from './soak/front.js';
import { plot } from './soak/plot.js';
import { sampled } from './soak/samples.js';
import { RULE, verdictOf } from './soak/verdict.js';

const JOBS = 16;
const KEY = 'soak-key';
const SAMPLES = 480;
const filings = [process.execPath, join(import.meta.dirname, '..', 'bin', 'filings.js')];

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    files: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    plot: { type: 'string' },
    samples: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const print = (text) => process.stdout.write(`${text}\n`);

const folder = mkdtempSync(join(tmpdir(), 'filings-soak-'));
const children = [];
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const env = { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, FILINGS_API_KEY: KEY };
function start(args, stdio) {
  const [program, ...first] = filings;
  const child = spawn(program, [...first, ...args], { cwd: folder, env, stdio });
  children.push(child);
  return child;
}

async function startServe(root) {
  const child = start(['serve', root, '--port', '0'], ['ignore', 'pipe', 'ignore']);
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return line.trim();
}

const archive = await makeArchive(folder, Number(values.files));
writeFileSync(join(folder, 'accessions.txt'), archive.accessions.map((accession) => `${accession}\n`).join(''));
const servers = [await startServe(archive.root)];
let nginx;
if (versionOf('nginx', '-v') === undefined) {
  print('nginx is not installed: all files come from `filings serve`');
} else {
  const location = 'location = /v1/download { try_files /$arg_accession_no/$arg_file_name =404; }';
  nginx = await startNginx(archive.root, join(folder, 'nginx'), { location });
  servers.push(nginx.url);
}
// Listings count as responses. The last responses need some of the time.
const everyMs = (minutes * 60_000 * 0.98) / (archive.files + archive.accessions.length);
const front = await startFront({ servers, everyMs, seed: values.seed });
print(`${archive.files} files of ${archive.accessions.length} filings, ${servers.length} servers, ${minutes} minutes`);

const keeping = ['--checksums', '--report', 'report.jsonl', '--done', 'done'];
// A deadline ends the run if it hangs.
const bounds = ['--base-url', front.url, '--deadline', `${Math.ceil(minutes * 90) + 120}s`];
const run = start(
  ['download', '-i', 'accessions.txt', '--all', '-d', 'mirror', '-j', String(JOBS), '-q', ...keeping, ...bounds],
  'inherit',
);
const watch = sampled(run.pid, Math.min(5000, (minutes * 60_000) / SAMPLES), () => front.counted.answers);
const [status] = await once(run, 'exit');
watch.stop();
await front.stop();
await nginx?.stop();

const { samples } = watch;
const wrong = await archive.wrongIn(join(folder, 'mirror'));
const verdict = verdictOf(samples, { files: archive.files, jobs: JOBS });
print(`exit status ${status}; ${wrong} files missing or wrong; faults ${JSON.stringify(front.counted.faults)}`);
print(
  `${samples.length} samples over ${((samples.at(-1)?.at ?? 0) / 60).toFixed(1)} minutes: ${JSON.stringify(verdict)}`,
);
print(`the rule: ${RULE.replaceAll('\n', ' ')}`);
if (values.samples !== undefined) writeFileSync(values.samples, `${JSON.stringify(samples)}\n`);
if (values.plot !== undefined && samples.length > 1) {
  writeFileSync(values.plot, plot(samples, `A mirror of ${archive.files.toLocaleString('en')} files, with faults`));
}
const isFine = status === 0 && wrong === 0 && verdict.isFlat;
print(isFine ? 'flat' : `NOT FLAT OR NOT WHOLE: ${verdict.why.join(', ')}`);
process.exit(isFine ? 0 : 1);
