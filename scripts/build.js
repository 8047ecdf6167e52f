// Bundles src/ to dist/: one chunk a command, shared chunks between them, everything CommonJS.
// esbuild splits ES modules only, and Node 20 starts CommonJS faster: hence the second pass.
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const target = 'node20.19';

const split = await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/main.ts', 'hash-worker': 'src/disk/hash-worker.ts' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target,
  outdir: 'dist',
  chunkNames: '[name]-[hash]',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  write: false,
});

await mkdir(dist, { recursive: true });
const before = await readdir(dist);
await writeFile(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
await Promise.all(
  split.outputFiles.map(async (file) => {
    const { code } = await transform(file.text, {
      format: 'cjs',
      platform: 'node',
      target,
      // As require(): the command's chunk is loaded by the same cached, synchronous loader.
      supported: { 'dynamic-import': false },
      minifySyntax: true,
      minifyWhitespace: true,
    });
    // By rename: a program that starts meanwhile finds the old or the new, never a half.
    const path = join(dist, basename(file.path));
    await writeFile(`${path}.${process.pid}`, code);
    await rename(`${path}.${process.pid}`, path);
  }),
);
const kept = new Set(['package.json', ...split.outputFiles.map(({ path }) => basename(path))]);
await Promise.all(before.filter((name) => !kept.has(name)).map((name) => rm(join(dist, name), { recursive: true })));
