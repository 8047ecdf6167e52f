// Plays schedules (test/prove/schedules): the program, its disk and its service in one process, under a clock and an order that a seed
// decides. `--count N` plays so many from `--seed S` on, in `--workers W` processes; `--replay S` shows the steps of one, `--plan FILE` those
// of a plan that was kept; `--mutants` shows that each of the defects in schedule-mutants.js is found (`--only TEXT`: those with that in
// their name).
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { withChanges } from './changed-sources.js';
import { MUTANTS } from './schedule-mutants.js';

const root = join(import.meta.dirname, '..');
const schedules = join(root, 'test/prove/schedules');
/** Node's modules that the program reaches the disk and the network by, and what stands in their place. */
const DRIVEN = {
  fs: 'fs.ts',
  'fs/promises': 'fs-promises.ts',
  net: 'net.ts',
  'timers/promises': 'timers-promises.ts',
  worker_threads: 'worker-threads.ts',
};
/** So many schedules at most have to find a mutant. */
const ENOUGH = 1500;

/** For the sources alone: the driver itself has the real ones. */
const driven = {
  name: 'driven',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^node:/ }, ({ path, importer }) => {
      const file = importer.startsWith(join(root, 'src')) ? DRIVEN[path.slice('node:'.length)] : undefined;
      return file && { path: join(schedules, 'driven', file) };
    }),
};

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: `${Date.now() % 2 ** 31}` },
    workers: { type: 'string', default: '1' },
    replay: { type: 'string' },
    plan: { type: 'string' },
    mutants: { type: 'boolean' },
    only: { type: 'string', default: '' },
    'go-on': { type: 'boolean' },
  },
});
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const below = mkdtempSync(join(memory, 'filings-schedules-'));
try {
  process.exitCode = (await (values.mutants ? findMutants() : play())) ? 0 : 1;
} finally {
  rmSync(below, { recursive: true });
}

/** Whether all held. */
async function play() {
  const outfile = await bundled('schedules');
  if (values.plan !== undefined) return (await run(outfile, ['--plan', values.plan])) === 0;
  if (values.replay !== undefined) return (await run(outfile, ['--replay', values.replay])) === 0;
  const [count, first, workers] = [Number(values.count), Number(values.seed), Number(values.workers)];
  const each = Math.ceil(count / workers);
  const shares = Array.from({ length: workers }, (_, at) => ['--count', `${each}`, '--seed', `${first + at * each}`]);
  const goOn = values['go-on'] ? ['--go-on'] : [];
  const codes = await Promise.all(shares.map((share) => run(outfile, [...share, ...goOn])));
  return codes.every((code) => code === 0);
}

/** Whether each is found. */
async function findMutants() {
  let survivors = 0;
  for (const mutant of MUTANTS.filter(({ name }) => name.includes(values.only))) {
    const outfile = await bundled('mutant', [mutant, ...(mutant.also ? [mutant.also] : [])]);
    process.stdout.write(`${mutant.name}: `);
    const code = await run(outfile, ['--count', `${ENOUGH}`, '--seed', '1', '--no-shrink', '--brief']);
    if (code === 0) survivors += 1;
  }
  return survivors === 0;
}

/** The program with its driver, as one file. */
async function bundled(name, changes = []) {
  const outfile = join(below, `${name}.mjs`);
  await build({
    entryPoints: [join(schedules, 'main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'inline',
    logLevel: 'error',
    plugins: [driven, withChanges(changes)],
    // undici is CommonJS, and asks for Node's modules so.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
}

/** The exit code of a process that plays. */
function run(outfile, args) {
  const env = { ...process.env, FILINGS_ROOT: root };
  // The places in the sources cost a second and more: for the replay alone.
  const mapped = args.includes('--replay') || args.includes('--plan') ? ['--enable-source-maps'] : [];
  const nodeArgs = [...mapped, outfile, '--below', below, ...args];
  const child = spawn(process.execPath, nodeArgs, { env, stdio: 'inherit' });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
