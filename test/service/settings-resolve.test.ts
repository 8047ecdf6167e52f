import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test as vitestTest } from 'vitest';
import { resolveSettings } from '../../src/settings/resolve.ts';
import { OWNER, temporaryFolder, worldOf } from '../settings-world.ts';

type Flags = Readonly<Record<string, string | boolean>>;
type Environment = Readonly<Record<string, string>>;
type Content = string | Buffer | object;
type Protected = { config: Content; mode: number; refused: boolean };

/** `test` with a folder, and a function that resolves the settings with a config file of some content in it. */
const test = vitestTest.extend('place', async () => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  const resolve = async (config: Content, flags: Flags = {}, env: Environment = {}) =>
    resolveSettings({ config: await folder.file('config.json', config), ...flags }, worldOf({ env, cwd: '/cwd' }));
  return { ...folder, resolve };
});

describe('settings', () => {
  test('come from all layers, each with its origin, and null in a profile unsets one', async ({ place }) => {
    const work = { retries: 1, baseUrl: 'https://work.example/v1', idleTimeout: null };
    const top = { jobs: 3, retries: 2, allowHttp: true, deadline: '1h', idleTimeout: '5s' };
    const env = { FILINGS_RATE: '6/m', FILINGS_JOBS: '5' };
    const config = { ...top, profile: 'work', profiles: { work } };
    const { settings, rawSettings } = await place.resolve(config, { jobs: '7' }, env);
    expect(settings).toMatchObject({ jobs: 7, retries: 1, rate: 0.1, deadline: 3_600_000, idleTimeout: 60_000 });
    expect([settings.allowHttp, settings.baseUrl?.href]).toEqual([true, 'https://work.example/']);
    const origins = ['jobs', 'rate', 'retries', 'deadline', 'color'].map((key) => rawSettings.get(key)?.setBy);
    const path = join(place.path, 'config.json');
    const ofFile = [`${path}: profiles.work.retries`, `${path}: deadline`];
    expect(origins).toEqual(['--jobs', 'FILINGS_RATE', ...ofFile, 'default']);
  });

  test.each`
    flags                                  | env                             | message
    ${{ jobs: '0' }}                       | ${{}}                           | ${'--jobs: must be a whole number from 1 to 256'}
    ${{ connectTimeout: '0s' }}            | ${{}}                           | ${'--connect-timeout: must be a duration above zero'}
    ${{}}                                  | ${{ FILINGS_SANDBOX: 'yes' }}   | ${'FILINGS_SANDBOX: must be 1 or true, 0 or false'}
    ${{}}                                  | ${{ FILINGS_KEY_IN: 'cookie' }} | ${'FILINGS_KEY_IN: must be authorization, header'}
    ${{ keyHeader: 'host' }}               | ${{}}                           | ${'--key-header: must be the name of a header'}
    ${{ basicUser: 'a:b' }}                | ${{}}                           | ${'--basic-user: must be a user name'}
    ${{ quiet: true, verbose: true }}      | ${{}}                           | ${'--quiet cannot be used with --verbose'}
    ${{ baseUrl: 'http://far.example' }}   | ${{ FILINGS_SANDBOX: '0' }}     | ${'http://far.example: plain http'}
    ${{ keyHeader: 'X-Key' }}              | ${{}}                           | ${'--key-header: has no effect'}
    ${{ basicUser: 'me', keyIn: 'query' }} | ${{}}                           | ${'has no effect with --key-in query'}
  `('are refused for $flags and $env', async (row: { flags: Flags; env: Environment; message: string }) => {
    await expect(resolveSettings(row.flags, worldOf({ env: row.env }))).rejects.toThrow(row.message);
  });
});

test('a header for the key is accepted wherever some run may send the key in it', async ({ place }) => {
  const headers = [
    await place.resolve({}, { keyHeader: 'X-Key', keyIn: 'header' }),
    await place.resolve({}, { keyHeader: 'X-Key' }, { FILINGS_JWT: 'a.b.c' }),
    await place.resolve({}, {}, { FILINGS_KEY_HEADER: 'X-Key' }),
    await place.resolve({ keyHeader: 'X-Key' }),
  ].map(({ settings }) => settings.keyHeader);
  expect(headers).toEqual(Array(4).fill('X-Key'));
});

test('a carriage return that a shell has left at the end of a variable is ignored', async ({ place }) => {
  const env = { FILINGS_JOBS: '7\r', FILINGS_BASE_URL: 'https://a.example\r', FILINGS_RATE: '\r' };
  const { settings } = await place.resolve({}, {}, env);
  expect([settings.jobs, settings.baseUrl?.href, settings.rate]).toEqual([7, 'https://a.example/', undefined]);
});

describe('the config file', () => {
  test('may be empty, and UTF-16 with a byte-order mark, as editors on Windows write it', async ({ place }) => {
    expect((await place.resolve('')).settings.jobs).toBe(4);
    expect((await place.resolve(Buffer.from('\ufeff{"jobs":7}', 'utf16le'))).settings.jobs).toBe(7);
  });

  const eitherFile = 'jwt: must have exactly one of keyFile and secretFile';
  const twice = '{"profiles":{"a":{"apiKey":"canary","api\\u004bey":"canary"}}}';
  test.for`
    config                                             | message
    ${{ jwt: {} }}                                     | ${eitherFile}
    ${{ jwt: { keyFile: 'a', secretFile: 'b' } }}      | ${eitherFile}
    ${{ jwt: { keyFile: 'a', lifetime: '9s' } }}       | ${'jwt.lifetime: must be a duration'}
    ${{ jwt: { keyFile: 'a', alg: 'EdDSA' } }}         | ${'jwt.alg: must be an algorithm'}
    ${{ jwt: { keyfile: 'a' } }}                       | ${'jwt.keyfile: no such setting\ndid you mean keyFile?'}
    ${{ jbos: 3 }}                                     | ${'jbos: no such setting\ndid you mean jobs?'}
    ${{ profiles: { a: { baseURL: 'x' } } }}           | ${'profiles.a.baseURL: no such setting\ndid you mean baseUrl?'}
    ${{ sandbox: true }}                               | ${'sandbox: no such setting'}
    ${{ jobs: '3' }}                                   | ${'jobs: must be a whole number from 1 to 256'}
    ${{ jobs: null }}                                  | ${'jobs: must be a whole number from 1 to 256'}
    ${{ allowHttp: 'true' }}                           | ${'allowHttp: must be true or false'}
    ${{ keyIn: 'cookie' }}                             | ${'keyIn: must be authorization, header'}
    ${{ apiKeyCommand: 'pass x' }}                     | ${'apiKeyCommand: must be an array'}
    ${{ profiles: { a: { rate: 'fast' } } }}           | ${'profiles.a.rate: must be a number per second'}
    ${{ profiles: [] }}                                | ${'profiles: must be an object'}
    ${[]}                                              | ${'must be a JSON object'}
    ${'{"jobs": 3,\n  "apiKey": canary}'}              | ${'not valid JSON'}
    ${'{"jobs": 3,\n  "apiKey" "canary"}'}             | ${'not valid JSON at line 2, column 12'}
    ${'{"jobs": 3,\n  "jobs": 4}'}                     | ${': jobs: set twice'}
    ${twice}                                           | ${': profiles.a.apiKey: set twice'}
    ${{ apiKeyCommand: Array(70_000).fill(0) }}        | ${'larger than 128 KiB'}
    ${`{"jobs":${'['.repeat(101)}`}                    | ${'not valid JSON'}
    ${`{"jobs":${'['.repeat(100) + ']'.repeat(100)}}`} | ${'has more than 100 levels of JSON'}
  `('is refused with the content $config', async (row: { config: Content; message: string }, { place }) => {
    const error = await place.resolve(row.config).catch((thrown) => thrown);
    expect(error.code).toBe('config');
    expect(`${error.message}\n${error.hint}`).toContain(row.message);
    expect(`${error.message} ${error.cause}`).not.toContain('canary');
  });

  test('has paths relative to its folder, and ~/ stands for the home directory', async ({ place }) => {
    const key = async (config: object, flags?: Flags) => (await place.resolve(config, flags)).settings.keySource;
    expect(await key({ apiKeyFile: 'sub/key' })).toMatchObject({ kind: 'file', path: join(place.path, 'sub/key') });
    expect(await key({ apiKeyCommand: ['./get', '-x'] })).toMatchObject({ argv: [join(place.path, 'get'), '-x'] });
    expect(await key({}, { apiKeyFile: 'key' })).toMatchObject({ kind: 'file', path: '/cwd/key' });
    const { tokenSource } = (await place.resolve({ jwtFile: '~/t' }, {}, { HOME: '/home/me' })).settings;
    expect(tokenSource).toMatchObject({ path: '/home/me/t' });
  });

  // Whose files are trusted is tested where secret files are read.
  test.for`
    config                                                       | mode     | refused
    ${{ profiles: { a: { apiKey: 'secret' } } }}                 | ${0o604} | ${true}
    ${{ baseUrl: 'https://api.example.com' }}                    | ${0o602} | ${true}
    ${'not even JSON'}                                           | ${0o666} | ${true}
    ${{ baseUrl: 'https://api.example.com', apiKeyFile: 'key' }} | ${0o644} | ${false}
    ${{ profiles: { a: { apiKey: null } } }}                     | ${0o644} | ${false}
  `('with the mode $mode and the content $config is refused: $refused', async (row: Protected, { place }) => {
    const path = await place.ownFile('own.json', row.config, row.mode);
    const resolving = resolveSettings({ config: path }, worldOf({ uid: OWNER }));
    if (row.refused) await expect(resolving).rejects.toMatchObject({ code: 'config', hint: `chmod 600 ${path}` });
    else expect((await resolving).configPath).toBe(path);
  });

  test('of the pages has profiles that can be used', async ({ place }) => {
    const page = await readFile(join(import.meta.dirname, '../../docs/using.md'), 'utf8');
    const [, json = ''] = /^```json\n(\{[^`]*"profiles"[^`]*)```/m.exec(page) ?? [];
    const example = JSON.parse(json);
    for (const profile of Object.keys(example.profiles)) {
      const { settings, accessError } = await place.resolve(example, { profile });
      expect([settings.keySource?.kind, accessError]).toEqual(['file', undefined]);
    }
    expect((await place.resolve(example)).accessError).toBeUndefined();
  });

  test('is found by the XDG rules, and must exist if it is named', async ({ place }) => {
    const HOME = place.path;
    await place.file('.config/filings/config.json', { jobs: 11 });
    await place.file('xdg/filings/config.json', { jobs: 12 });
    const jobs = async (env: Environment) => (await resolveSettings({}, worldOf({ env }))).settings.jobs;
    expect(await jobs({ HOME })).toBe(11);
    expect(await jobs({ HOME, XDG_CONFIG_HOME: join(HOME, 'xdg') })).toBe(12);
    expect(await jobs({ HOME, XDG_CONFIG_HOME: 'relative' })).toBe(11);
    expect(await jobs({ HOME: join(HOME, 'nobody') })).toBe(4);
    await expect(jobs({ FILINGS_CONFIG: join(HOME, 'none.json') })).rejects.toThrow('no such file');
  });
});

describe('with --sandbox', () => {
  test('the settings of the service are ignored wherever they are set, and the others apply', async ({ place }) => {
    const service = { baseUrl: 'https://a.example', apiKey: 'a', apiKeyFile: 'b', listing: { files: 'x' } };
    const config = { ...service, jobs: 2, profiles: { p: { jwt: { keyFile: 'f' }, retries: 9 } } };
    const keys = { FILINGS_API_KEY: 'k', FILINGS_API_KEY_FILE: 'f', FILINGS_KEY_IN: 'cookie' };
    const env = { FILINGS_SANDBOX: '1', FILINGS_BASE_URL: '::', ...keys };
    const { settings, accessError } = await place.resolve(config, { profile: 'p', keyHeader: 'host' }, env);
    const unused = {
      baseUrl: undefined,
      keySource: undefined,
      tokenSource: undefined,
      keyIn: 'authorization',
      listing: undefined,
    };
    expect(settings).toMatchObject({ sandbox: true, ...unused, jobs: 2, retries: 9 });
    expect(accessError).toBeUndefined();
  });

  test('only a config file that is named is read', async ({ place }) => {
    const path = await place.file('.config/filings/config.json', '{');
    const inSandbox = (env: Environment) => resolveSettings({ sandbox: true }, worldOf({ env }));
    expect((await inSandbox({ HOME: place.path, FILINGS_PROFILE: 'work' })).settings.jobs).toBe(4);
    await expect(inSandbox({ HOME: place.path, FILINGS_CONFIG: path })).rejects.toThrow('not valid JSON');
  });

  test('a base URL on the command line is refused, wherever the sandbox is turned on', async () => {
    const attempt = (flags: Flags, FILINGS_SANDBOX: string) =>
      resolveSettings({ baseUrl: 'https://api.example.com', ...flags }, worldOf({ env: { FILINGS_SANDBOX } }));
    for (const variable of ['', '0'])
      await expect(attempt({ sandbox: true }, variable)).rejects.toThrow('--base-url cannot be used with --sandbox');
    await expect(attempt({}, '1')).rejects.toThrow('--base-url cannot be used with FILINGS_SANDBOX');
  });
});
