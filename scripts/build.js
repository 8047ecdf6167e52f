// Bundles src/ to dist/: one chunk a command, shared chunks between them, everything CommonJS, a source map beside each.
// esbuild splits ES modules only, and Node 20 starts CommonJS faster: hence the second pass.
// asked.js, which shells wait for, is one file: each chunk costs a start. It asks for none of the commands' own modules.
// --watch builds anew whenever a file of src/ has changed.
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build, context, transform } from 'esbuild';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const target = 'node20.19';
const small = { minifySyntax: true, minifyWhitespace: true };

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target,
  outdir: 'dist',
  ...small,
  legalComments: 'none',
  // The second pass follows it back to the sources.
  sourcemap: 'inline',
  sourcesContent: false,
  logLevel: 'warning',
  write: false,
};
const withoutCommands = {
  name: 'without-commands',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\./ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    ),
};

const bundler = await context({
  ...common,
  entryPoints: {
    main: 'src/main.ts',
    'hash-worker': 'src/disk/hash/hash-worker.ts',
    'hash-thread': 'src/transfer/checksums/verify/hash-thread.ts',
  },
  splitting: true,
  chunkNames: '[name]-[hash]',
  plugins: [{ name: 'second-pass', setup: ({ onEnd }) => onEnd(({ outputFiles = [] }) => write(outputFiles)) }],
});
if (process.argv.includes('--watch')) {
  await bundler.watch();
} else {
  await bundler.rebuild().finally(() => bundler.dispose());
}

async function write(split) {
  if (split.length === 0) return;
  await mkdir(dist, { recursive: true });
  const before = await readdir(dist);
  await writeFile(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
  const asked = await build({ ...common, entryPoints: { asked: 'src/asked.ts' }, plugins: [withoutCommands] });
  const written = await Promise.all([...split, ...asked.outputFiles].map((file) => asCommonJs(file)));
  const kept = new Set(['package.json', ...written.flat()]);
  await Promise.all(before.filter((name) => !kept.has(name)).map((name) => rm(join(dist, name), { recursive: true })));
}

/** The names of the two files that were written. */
async function asCommonJs(file) {
  const name = basename(file.path);
  const { code, map } = await transform(file.text, {
    format: 'cjs',
    platform: 'node',
    target,
    sourcefile: name,
    sourcemap: 'external',
    sourcesContent: false,
    // As require(): the command's chunk is loaded by the same cached, synchronous loader.
    supported: { 'dynamic-import': false },
    ...small,
  });
  await place(name, code);
  await place(`${name}.map`, map);
  return [name, `${name}.map`];
}

/** By rename: a program that starts meanwhile finds the old or the new, never a half. */
async function place(name, text) {
  const path = join(dist, name);
  await writeFile(`${path}.${process.pid}`, text);
  await rename(`${path}.${process.pid}`, path);
}
