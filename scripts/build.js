// Bundles src/ to dist/: one chunk a command, shared chunks between them, everything CommonJS, a source map beside each.
// esbuild splits ES modules only, and Node 20 starts CommonJS faster: hence the second pass.
// asked.js and help.js, which shells and people wait for, are one file each: every chunk costs a start. They ask for none of
// the commands' own modules.
// --watch builds anew whenever a file of src/ has changed.
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
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
  // Read as they are: a byte a sign.
  charset: 'ascii',
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

/** What a library asks for and nothing here needs; each would take longer to load than all of our own. */
const UNUSED = [
  // For commands that are programs of their own.
  { of: 'commander', path: 'node:child_process', contents: '' },
  // For HTTP/2; undici does without where Node was built without it.
  { of: 'undici', path: 'node:http2', contents: 'exports.constants = {}' },
  // For other ways to ask, and to be asked.
  {
    of: 'undici',
    path: 'node:http',
    contents: 'exports.maxHeaderSize = 16384; exports.IncomingMessage = class IncomingMessage {}',
  },
  // For a class of errors: it asks for nothing but whether something holds.
  {
    of: 'undici',
    path: 'node:assert',
    contents:
      'module.exports = (holds, message) => { if (!holds) throw new Error(message ?? "an assertion of undici\'s") }',
  },
  // For bodies of requests, and with it all of fetch: a GET has none. Should it be asked for, that is a defect.
  { of: 'undici', path: '../web/fetch/body.js', contents: 'throw new Error("a request with a body")' },
];
const withoutUnused = {
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:|body\.js$/ }, ({ path, importer }) => {
      const found = UNUSED.findIndex((one) => one.path === path && importer.includes(`/node_modules/${one.of}/`));
      return found < 0 ? undefined : { path: `${found}`, namespace: 'unused' };
    });
    onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({ contents: UNUSED[path].contents, loader: 'js' }));
  },
};

/** What only some runs come to; each takes longer to load than it is asked for. */
const LATER = ['node:child_process', 'node:crypto', 'node:http', 'node:worker_threads'];
/** Our own sources get them as they use them. */
const later = {
  name: 'later',
  setup({ onResolve, onLoad }) {
    // What is imported as it is used needs no help.
    onResolve({ filter: /^node:/ }, ({ path, kind, importer, namespace }) =>
      kind === 'import-statement' &&
      namespace === 'file' &&
      LATER.includes(path) &&
      importer.startsWith(join(root, 'src'))
        ? { path, namespace: 'later' }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'later' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default');
      const getters = names.map((name) => `get ${name}() { return require('${path}').${name} }`);
      return { contents: `module.exports = { ${getters.join(',')} }`, loader: 'js' };
    });
  },
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
  plugins: [
    withoutUnused,
    later,
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
  await mkdir(join(dist, 'help'), { recursive: true });
  const before = await readdir(dist, { recursive: true });
  await writeFile(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
  const lean = await Promise.all(
    ['asked', 'help'].map((name) =>
      build({ ...common, entryPoints: { [name]: `src/${name}.ts` }, plugins: [withoutCommands] }),
    ),
  );
  const files = [...split, ...lean.flatMap(({ outputFiles }) => outputFiles)];
  const written = await Promise.all(files.map((file) => asCommonJs(file)));
  const digest = createHash('sha256');
  for (const { code } of written) digest.update(code);
  // The main module names the build, so that what is kept of one is not taken for another's (bin/compiled.js).
  const main = written.find(({ name }) => name === 'main.js');
  main.code += `//${digest.digest('hex')}\n`;
  // It comes last, since it asks for the others.
  await Promise.all(written.filter((one) => one !== main).map(placeWithMap));
  await placeWithMap(main);
  const kept = new Set([
    'package.json',
    'help',
    ...written.flatMap(({ name }) => [name, `${name}.map`]),
    ...(await keepHelp()),
  ]);
  await Promise.all(before.filter((name) => !kept.has(name)).map((name) => rm(join(dist, name), { force: true })));
}

/** What the lines that ask for help print: a start that only reads it is a fifth shorter. Gives the files' names. */
async function keepHelp() {
  const built = join(dist, 'help.js');
  const require = createRequire(import.meta.url);
  delete require.cache[built];
  const { answer, lines } = require(built);
  return Promise.all(
    lines().map(async (argv) => {
      const name = join('help', `${argv.join(' ')}.txt`);
      await place(name, answer({ argv, env: {}, stdout: {} }));
      return name;
    }),
  );
}

async function placeWithMap({ name, code, map }) {
  await place(`${name}.map`, map);
  await place(name, code);
}

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
    charset: 'ascii',
    ...small,
  });
  return { name, code, map };
}

/** By rename: a program that starts meanwhile finds the old or the new, never a half. */
async function place(name, text) {
  const path = join(dist, name);
  await writeFile(`${path}.${process.pid}`, text);
  await rename(`${path}.${process.pid}`, path);
}
