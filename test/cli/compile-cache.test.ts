import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { filings, NODE } from './program.ts';

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

const chosen = (env: Record<string, string> = { HOME: home }) => privateDirectory(env, uid);
const made = (mode: number) => mkdir(cache, { recursive: true }).then(() => chmod(cache, mode));

describe('the directory of compiled code', () => {
  test('is made for the user alone', async () => {
    expect(chosen()).toBe(cache);
    expect((await stat(cache)).mode & 0o777).toBe(0o700);
    expect(chosen()).toBe(cache);
  });

  test('is where XDG says', () => {
    expect(chosen({ HOME: '/nowhere', XDG_CACHE_HOME: join(home, 'xdg') })).toBe(join(home, 'xdg/filings'));
    expect(chosen({ HOME: home, XDG_CACHE_HOME: 'relative' })).toBe(cache);
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
      expect(chosen(), 'sticky').toBe(cache);
    }
  });

  asRoot('is none where it, or what is above it, is another user’s', async () => {
    await made(0o700);
    for (const folder of [cache, join(home, '.cache'), home]) {
      await chown(folder, 12345, 12345);
      expect(chosen(), folder).toBeUndefined();
      await chown(folder, 0, 0);
    }
    expect(chosen()).toBe(cache);
  });

  test('is none where there are no users', () => expect(privateDirectory({ HOME: home }, undefined)).toBeUndefined());
});

// Node has had such a cache since 22.8.
const hasCache = `${execFileSync(NODE, ['-p', '"enableCompileCache" in require("module")'])}` === 'true\n';

describe.runIf(hasCache)('compiled code', () => {
  const run = (env: Record<string, string>) => filings(['list', '--help'], { env: { TMPDIR: home, ...env } });

  test('is kept in that directory', async () => {
    expect((await run({ HOME: home })).exitCode).toBe(0);
    expect(await readdir(cache)).toHaveLength(1);
    expect(await readdir(home)).toEqual(['.cache']);
  });

  test('is kept nowhere when that is in doubt, least of all below TMPDIR', async () => {
    await made(0o777);
    expect((await run({ HOME: home })).exitCode).toBe(0);
    expect(await readdir(cache)).toEqual([]);
    expect((await run({})).exitCode).toBe(0);
    expect(await readdir(home)).toEqual(['.cache']);
  });

  test('is kept where the user said', async () => {
    const own = join(home, 'own');
    expect((await run({ HOME: home, NODE_COMPILE_CACHE: own })).exitCode).toBe(0);
    expect(await readdir(own)).toHaveLength(1);
    expect(await readdir(home)).toEqual(['own']);
  });
});
