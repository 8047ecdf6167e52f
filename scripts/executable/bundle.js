// The code of an executable: one file for the program, one for each of its threads, and a small one that starts it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';

/** The program. The names are those of the assets. */
export const MAIN = 'dist/filings.js';

const THREADS = {
  'dist/hash-worker': 'src/disk/hash/hash-worker.ts',
  'dist/hash-thread': 'src/transfer/checksums/verify/hash-thread.ts',
};
const root = join(import.meta.dirname, '../..');
const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  // As require(): a text that is no module can't import.
  supported: { 'dynamic-import': false },
  minifySyntax: true,
  minifyWhitespace: true,
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
};

/** Writes them below a folder; gives the path of the file that starts the program. */
export async function bundleTo(folder) {
  const start = join(folder, 'start.js');
  await build({ ...common, entryPoints: ['scripts/executable/start.cjs'], outfile: start });
  await build({ ...common, entryPoints: THREADS, outdir: folder });
  await build({
    ...common,
    entryPoints: ['bin/filings.js'],
    outfile: join(folder, MAIN),
    // A function, since it is no module to Node.
    banner: { js: '(function(exports,require,module,__filename,__dirname){' },
    footer: { js: '})' },
    sourcemap: 'external',
    sourcesContent: false,
    plugins: [{ name: 'embedded', setup: embedded }],
  });
  const map = join(folder, `${MAIN}.map`);
  const { sources, ...rest } = JSON.parse(readFileSync(map, 'utf8'));
  const fromRoot = (source) => relative(root, join(folder, 'dist', source));
  writeFileSync(map, JSON.stringify({ ...rest, sources: sources.map(fromRoot) }));
  return start;
}

/** What the package has beside it, the executable has within. */
function embedded({ onResolve }) {
  onResolve({ filter: /^\.\/own\.js$/ }, () => ({ path: join(root, 'bin/own-embedded.js') }));
}
