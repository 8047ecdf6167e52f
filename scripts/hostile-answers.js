// Compares what this program makes of broken answers with what curl makes of them (docs/guarantees.md).
//   node scripts/hostile-answers.js --answers 100000 --seed 1       as many as that; a fresh seed where none is given
//   node scripts/hostile-answers.js --seed 7 --path 31:0:2          one again, as a failure names it
//   node scripts/hostile-answers.js --mutant NAME                   with the program broken on purpose
// The sources are bundled, since Node 20 runs no TypeScript.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { mutating } from './hostile-mutants.js';

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const at = args.indexOf('--mutant');
const mutant = at < 0 ? undefined : args.splice(at, 2)[1];

/** What lies beside a test's server is found from there, not from beside the bundle. */
const fixturesStay = {
  name: 'fixtures-stay',
  setup: ({ onLoad }) =>
    onLoad({ filter: /test.servers.certificates\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace('import.meta.dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    })),
};

// Below node_modules, where the libraries are found.
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
// A server's reset of a connection that was just being ended leaves Node 20 a handle that never closes: it would wait for that
// without end.
process.exit();
