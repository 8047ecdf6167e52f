import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startArchive } from '../servers/archive.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

const root = join(import.meta.dirname, '../..');
const help = createRequire(import.meta.url)('../../dist/help.js') as typeof import('../../src/help.ts');

/** Tells, when a process ends, which files it loaded, and which of Node's own modules that bare Node does without. */
const TELLS_LOADED = `
const bare = new Set(process.moduleLoadList);
process.on('exit', () => {
  const files = Object.keys(require.cache).filter((path) => path !== __filename);
  const modules = process.moduleLoadList.filter((name) => name.startsWith('NativeModule ') && !bare.has(name));
  process._rawDebug(JSON.stringify({ files, modules: modules.map((name) => name.slice(13)) }));
});`;

async function loadedBy(args: readonly string[], env: Record<string, string> = {}) {
  const place = await workplace();
  const hook = join(place.path, 'hook.cjs');
  await writeFile(hook, TELLS_LOADED);
  // Node's own loader keeps the list.
  const own = { NODE_DISABLE_COMPILE_CACHE: '1', NODE_OPTIONS: `--require ${hook}` };
  const { stdout, stderr } = await place.filings(args, { ...env, ...own });
  const { files, modules } = JSON.parse(stderr) as { files: string[]; modules: string[] };
  const places = files.map((path) => path.split('/').slice(-2).join('/'));
  return { stdout, places, modules };
}

// A start is made of what is loaded, so that is held, not the time. Node 22 and later have the compile cache's file, too.
const own = (places: readonly string[]) => places.filter((path) => path !== 'bin/compile-cache.js');

test.each(['--version', '-V', '--help', '-h', 'download --help', 'completion bash'])(
  'filings %s loads three small files, and none of what streams need',
  async (line) => {
    const { stdout, places, modules } = await loadedBy(line.split(' '));
    expect(stdout.length).toBeGreaterThan(0);
    expect(own(places)).toEqual(['bin/filings.js', 'bin/own.js', 'bin/asked.js']);
    expect(modules).toEqual([]);
  },
);

test('what the build keeps of help is what is made where COLUMNS says that it is as wide', async () => {
  for (const argv of help.lines()) {
    const kept = await readFile(join(root, 'dist/help', `${argv.join(' ')}.txt`), 'utf8');
    expect(kept, argv.join(' ')).toBe(help.answer({ argv, env: { COLUMNS: '80' }, stdout: {} }));
    expect(kept).toMatch(/^Usage: filings /);
  }
  const place = await workplace();
  const { stdout } = await place.filings(['token', 'sign', '-h']);
  expect(stdout).toEqual(await readFile(join(root, 'dist/help/token sign -h.txt')));
});

test("other lines that end with --help are the whole program's", async () => {
  const place = await workplace();
  expect(await place.filings(['nope', '--help'], {})).toMatchObject({ exitCode: 2 });
  expect(await place.filings(['../../package.json', '-h'], {})).toMatchObject({ exitCode: 2 });
  expect(await place.filings(['-q', 'list', '--help'], {})).toMatchObject({ exitCode: 0, stderr: '' });
});

test('a small download off a terminal does without what libraries ask for in vain, and without batches', async () => {
  const archive = await startArchive({ [ACCESSION]: { 'a.htm': 'a' } });
  const { modules, places } = await loadedBy(['download', ACCESSION, 'a.htm', '-q'], serviceAt(archive.url));
  expect(modules).toContain('net');
  for (const name of ['crypto', 'http', 'http2', 'child_process', 'worker_threads', 'perf_hooks'])
    expect(modules).not.toContain(name);
  const named = (part: string) => places.filter((path) => path.startsWith(`dist/${part}-`));
  expect(named('run')).toHaveLength(1);
  for (const part of ['batch', 'lines', 'table']) expect(named(part), part).toEqual([]);
});
