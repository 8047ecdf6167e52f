// Compares how `filings` and curl treat broken HTTP responses (docs/guarantees.md).
//   node scripts/hostile-answers.js --answers 100000 --seed 1       this number of responses; a random seed by default
//   node scripts/hostile-answers.js --seed 7 --path 31:0:2          repeats one response, as a failure prints it
//   node scripts/hostile-answers.js --mutant NAME                   breaks the program on purpose
// The sources are bundled, because Node 20 cannot run TypeScript.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { mutating } from './hostile-mutants.js';

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const at = args.indexOf('--mutant');
const mutant = at < 0 ? undefined : args.splice(at, 2)[1];

/** Keeps the directory of the certificates, which the bundle would otherwise look for beside itself. */
const fixturesStay = {
  name: 'fixtures-stay',
  setup: ({ onLoad }) =>
    onLoad({ filter: /test.servers.certificates\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace('import.meta.dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    })),
};

// The bundle is below node_modules, so that it can import libraries.
const cache = join(root, 'node_modules/.cache');
const bundle = join(cache, `hostile-answers-${process.pid}.mjs`);
await mkdir(cache, { recursive: true });
try {
  await build({
    absWorkingDir: root,
    entryPoints: ['test/hostile/command.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outfile: bundle,
    logLevel: 'warning',
    plugins: [...(mutant === undefined ? [] : [mutating(mutant)]), fixturesStay],
  });
  const { command } = await import(pathToFileURL(bundle).href);
  process.exitCode = await command(args, (text) => process.stdout.write(text));
} finally {
  await rm(bundle, { force: true });
}
// If a server resets a connection while it is ended, Node 20 keeps a handle that never closes and would wait for it
// forever.
process.exit();
