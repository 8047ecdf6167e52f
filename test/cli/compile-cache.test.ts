import { execFileSync } from 'node:child_process';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { privateCacheDirectory } from '../../src/disk/directory/private-directory.ts';
import { ACCESSION, filings, NODE } from './program.ts';

const { privateDirectory } = createRequire(import.meta.url)('../../bin/compile-cache.js') as {
  privateDirectory(env: Record<string, string>, uid: number | undefined): string | undefined;
};
const uid = process.geteuid?.();
const asRoot = test.skipIf(uid !== 0);

let home: string;
let cache: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'filings-cache-')));
  cache = join(home, '.cache/filings');
  onTestFinished(() => rm(home, { recursive: true, force: true }));
});

const made = (mode: number) => mkdir(cache, { recursive: true }).then(() => chmod(cache, mode));

// What bin needs before the program is loaded stands there once more.
describe.each([
  ['compiled code', privateDirectory, ''],
  [
    'names',
    (env: Record<string, string>, owner: number | undefined) => privateCacheDirectory('names', { env, uid: owner }),
    '/names',
  ],
])('the directory of %s', (_, directoryFor, below) => {
  const chosen = (env: Record<string, string> = { HOME: home }) => directoryFor(env, uid);

  test('is made for the user alone', async () => {
    expect(chosen()).toBe(cache + below);
    expect((await stat(cache)).mode & 0o777).toBe(0o700);
    expect(chosen()).toBe(cache + below);
  });

  test('is where XDG says', () => {
    expect(chosen({ HOME: '/nowhere', XDG_CACHE_HOME: join(home, 'xdg') })).toBe(join(home, 'xdg/filings') + below);
    expect(chosen({ HOME: home, XDG_CACHE_HOME: 'relative' })).toBe(cache + below);
  });

  test.each<[string, Record<string, string>]>([
    ['no home', {}],
    ['a home that is not there', { HOME: '/nowhere/at/all' }],
    ['a home that is relative', { HOME: '.' }],
    ['a place where nothing can be made', { XDG_CACHE_HOME: '/proc/nope' }],
  ])('is none with %s', (_, env) => expect(chosen(env)).toBeUndefined());

  test.each([0o755, 0o770, 0o702, 0o777, 0o1777])('is none where others may be in it: mode %o', async (mode) => {
    await made(mode);
    expect(chosen()).toBeUndefined();
  });

  test('is none where it is a link or a file', async () => {
    await mkdir(join(home, '.cache/other'), { recursive: true, mode: 0o700 });
    await symlink('other', cache);
    expect(chosen()).toBeUndefined();
    await rm(cache);
    await writeFile(cache, '');
    expect(chosen()).toBeUndefined();
  });

  test('is none where others could put another in its place', async () => {
    await made(0o700);
    for (const folder of [home, join(home, '.cache')]) {
      for (const mode of [0o777, 0o720, 0o702]) {
        await chmod(folder, mode);
        expect(chosen(), folder).toBeUndefined();
      }
      await chmod(folder, 0o1777);
      expect(chosen(), 'sticky').toBe(cache + below);
    }
  });

  asRoot('is none where it, or what is above it, is another user’s', async () => {
    await made(0o700);
    for (const folder of [cache, join(home, '.cache'), home]) {
      await chown(folder, 12345, 12345);
      expect(chosen(), folder).toBeUndefined();
      await chown(folder, 0, 0);
    }
    expect(chosen()).toBe(cache + below);
  });

  asRoot('is not made in another user’s home, which would have something of root’s then', async () => {
    await chown(home, 12345, 12345);
    expect(chosen()).toBeUndefined();
    expect(await readdir(home)).toEqual([]);
    await mkdir(join(home, '.cache'));
    await chown(join(home, '.cache'), 12345, 12345);
    expect(chosen()).toBeUndefined();
    expect(await readdir(join(home, '.cache'))).toEqual([]);
  });

  test('is none where there are no users', () => expect(directoryFor({ HOME: home }, undefined)).toBeUndefined());
});

// Node keeps it itself since 22.8.
const hasOwn = `${execFileSync(NODE, ['-p', '"enableCompileCache" in require("module")'])}` === 'true\n';

describe('compiled code', () => {
  const run = (env: Record<string, string>) => filings(['help', 'list'], { env: { TMPDIR: home, ...env } });

  test('is kept in that directory', async () => {
    expect((await run({ HOME: home })).exitCode).toBe(0);
    expect(await readdir(cache)).toHaveLength(1);
    expect(await readdir(home)).toEqual(['.cache']);
    const before = await stat(cache);
    expect((await run({ HOME: home })).exitCode).toBe(0);
    expect((await stat(cache)).mtimeMs, 'nothing more to keep').toBe(before.mtimeMs);
  });

  test.skipIf(hasOwn)('is kept of a batch, which sets options of V8’s for itself', async () => {
    const line = ['--sandbox', 'download', ACCESSION, '--all', '-d', join(home, 'out'), '-q'];
    expect(await filings(line, { env: { HOME: home } })).toMatchObject({ exitCode: 0, stderr: '' });
    const names = await readdir(cache);
    expect(names).toHaveLength(1);
    const [name = ''] = names;
    const [heading] = (await readFile(join(cache, name), 'latin1')).split('\n');
    expect(heading).toMatch(/"batch-\w+\.js"/);
  });

  test('is kept nowhere when that is in doubt, least of all below TMPDIR', async () => {
    await made(0o777);
    expect((await run({ HOME: home })).exitCode).toBe(0);
    expect(await readdir(cache)).toEqual([]);
    expect((await run({})).exitCode).toBe(0);
    expect(await readdir(home)).toEqual(['.cache']);
  });

  test.runIf(hasOwn)('is kept where the user said', async () => {
    const own = join(home, 'own');
    expect((await run({ HOME: home, NODE_COMPILE_CACHE: own })).exitCode).toBe(0);
    expect(await readdir(own)).toHaveLength(1);
    expect(await readdir(home)).toEqual(['own']);
  });

  test('is kept nowhere when the user wants none', async () => {
    expect((await run({ HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' })).exitCode).toBe(0);
    expect(await readdir(home)).toEqual([]);
  });
});
