// Bundles src/ into dist/: one chunk per command and shared chunks, as CommonJS. esbuild splits only ES modules, and
// Node 20 starts CommonJS faster, so a second pass converts the chunks. --watch builds again after each change of src/.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { context, transform } from 'esbuild';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const target = 'node20.19';
const small = { minifySyntax: true, minifyWhitespace: true };

/**
 * Modules that libraries load but this program never uses, by library: programs as subcommands, and HTTP/2. Each of
 * them adds a twentieth to the start.
 */
const UNUSED = { commander: /^node:child_process$/, undici: /^\.\/client-h2\.js$/ };

const withoutUnused = {
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    for (const [library, unused] of Object.entries(UNUSED)) {
      onResolve({ filter: unused }, ({ importer }) =>
        importer.includes(`/node_modules/${library}/`) ? { path: 'none', namespace: 'none' } : undefined,
      );
    }
    onLoad({ filter: /.*/, namespace: 'none' }, () => ({ contents: '' }));
  },
};

/** Replaces undici's diagnostics, which print each URL, with the key that may be in it, if NODE_DEBUG asks for them. */
const UNDICI_CHANNELS = `
  const channel = { hasSubscribers: false };
  module.exports = { channels: new Proxy({}, { get: () => channel }) };`;

/**
 * Bundles only the two modules of undici that are used. Its index also loads fetch, web sockets, caches and mocks,
 * which makes a small download half as slow again.
 */
const undiciClient = {
  name: 'undici-client',
  setup({ onResolve, onLoad }) {
    const contents = `
      export { default as buildConnector } from 'undici/lib/core/connect.js';
      export { default as Client } from 'undici/lib/dispatcher/client.js';`;
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'undici' }));
    onLoad({ filter: /^/, namespace: 'undici' }, () => ({ contents, resolveDir: root }));
    onLoad({ filter: /[/\\]undici[/\\]lib[/\\]core[/\\]diagnostics\.js$/ }, () => ({ contents: UNDICI_CHANNELS }));
  },
};

/**
 * Makes each module that is imported later import the main module, too. esbuild then puts all that the main module
 * loads into one chunk, instead of one chunk per set of commands that share it, and a start reads three files instead
 * of twenty.
 */
const behindMain = {
  name: 'behind-main',
  async setup({ onLoad }) {
    const main = join(root, 'src/main.ts');
    const later = new Set();
    for (const name of await readdir(dirname(main), { recursive: true })) {
      const path = join(dirname(main), name);
      const text = path.endsWith('.ts') ? await readFile(path, 'utf8') : '';
      for (const [, target] of text.matchAll(/\bimport\('(\.[^']+)'\)/g)) later.add(join(dirname(path), target));
    }
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!later.has(path)) return undefined;
      return { contents: `${await readFile(path, 'utf8')}\nimport ${JSON.stringify(main)};`, loader: 'ts' };
    });
  },
};

const bundler = await context({
  absWorkingDir: root,
  entryPoints: {
    main: 'src/main.ts',
  },
  bundle: true,
  splitting: true,
  chunkNames: '[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target,
  outdir: 'dist',
  ...small,
  charset: 'ascii',
  legalComments: 'none',
  sourcemap: 'inline',
  sourcesContent: false,
  logLevel: 'warning',
  write: false,
  plugins: [
    withoutUnused,
    undiciClient,
    behindMain,
    { name: 'second-pass', setup: ({ onEnd }) => onEnd(({ outputFiles = [] }) => write(outputFiles)) },
  ],
});
if (process.argv.includes('--watch')) {
  await bundler.watch();
} else {
  await bundler.rebuild().finally(() => bundler.dispose());
}

async function write(split) {
  if (split.length === 0) return;
  await mkdir(dist, { recursive: true });
  const before = await readdir(dist, { recursive: true });
  await writeFile(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
  const written = await Promise.all(split.map(asCommonJs));
  // The maps of chunks that hold only libraries are not needed.
  const maps = written.flatMap(({ name, map }) =>
    map.includes('"../src/') ? [{ name: `${name}.map`, code: map }] : [],
  );
  await Promise.all(maps.map(place));
  // The main module comes last, because it loads the others.
  const main = written.find(({ name }) => name === 'main.js');
  await Promise.all(written.filter((one) => one !== main).map(place));
  await place(main);
  const kept = new Set(['package.json', ...[...written, ...maps].map(({ name }) => name)]);
  const stale = before.filter((name) => !kept.has(name));
  await Promise.all(stale.map((name) => rm(join(dist, name), { force: true, recursive: true })));
}

async function asCommonJs(file) {
  const name = basename(file.path);
  const { code, map } = await transform(file.text, {
    format: 'cjs',
    platform: 'node',
    target,
    // Becomes require(), so that the cached, synchronous loader also loads the chunk of the command.
    supported: { 'dynamic-import': false },
    charset: 'ascii',
    // Node reads the map only with --verbose (bin/filings.js).
    sourcemap: 'external',
    sourcefile: name,
    sourcesContent: false,
    ...small,
  });
  return { name, code: `${code}//# sourceMappingURL=${name}.map\n`, map };
}

/** Renames the file into place, so that a program that starts at that moment finds the old or the new file, never a half. */
async function place({ name, code }) {
  const path = join(dist, name);
  await writeFile(`${path}.${process.pid}`, code);
  await rename(`${path}.${process.pid}`, path);
}
