import { chown, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { resolveSettings } from '../../src/settings/resolve.ts';
import { OWNER, temporaryFolder, worldOf } from '../settings-world.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

/** Resolves the settings with a config file of this content. */
async function resolve(
  config: string | Buffer | object,
  flags: Record<string, string | boolean> = {},
  env = {},
  mode = 0o600,
) {
  const path = await folder.file('config.json', config, mode);
  return resolveSettings({ config: path, ...flags }, worldOf({ env, cwd: '/cwd' }));
}

describe('settings', () => {
  test('come from all layers, each with its origin', async () => {
    const work = { retries: 1, baseUrl: 'https://work.example/v1' };
    const config = { profile: 'work', jobs: 3, retries: 2, allowHttp: true, deadline: '1h', profiles: { work } };
    const { settings, rawSettings } = await resolve(config, { jobs: '7' }, { FILINGS_RATE: '6/m', FILINGS_JOBS: '5' });
    expect(settings).toMatchObject({ jobs: 7, retries: 1, rate: 0.1, deadline: 3_600_000, allowHttp: true });
    expect(settings.baseUrl?.href).toBe('https://work.example/');
    const origins = ['jobs', 'rate', 'retries', 'deadline', 'color'].map((key) => rawSettings.get(key)?.name);
    const path = join(folder.path, 'config.json');
    const ofFile = [`${path}: profiles.work.retries`, `${path}: deadline`];
    expect(origins).toEqual(['--jobs', 'FILINGS_RATE', ...ofFile, 'default']);
  });

  test.each([
    [{ jobs: '0' }, {}, '--jobs: must be a whole number from 1 to 256, such as 4'],
    [{ connectTimeout: '0s' }, {}, '--connect-timeout: must be a duration above zero'],
    [{}, { FILINGS_SANDBOX: 'yes' }, 'FILINGS_SANDBOX: must be 1 or true, 0 or false'],
    [{}, { FILINGS_KEY_IN: 'cookie' }, 'FILINGS_KEY_IN: must be authorization, header, query, path or basic'],
    [{ keyHeader: 'host' }, {}, '--key-header: must be the name of a header that may carry a key'],
    [{ basicUser: 'a:b' }, {}, '--basic-user: must be a user name'],
    [{ quiet: true, verbose: true }, {}, '--quiet cannot be used with --verbose'],
    [{ apiKeyFile: '' }, {}, '--api-key-file: must be a file'],
    [{ baseUrl: 'http://far.example' }, { FILINGS_SANDBOX: '0' }, 'http://far.example: plain http'],
    [{ keyHeader: 'X-Key' }, {}, '--key-header: has no effect, because the key is sent by authorization'],
    [{ basicUser: 'me', keyIn: 'query' }, {}, '--basic-user: has no effect, because the key is sent by query'],
  ])('are refused for the flags %j and the variables %j', async (flags, env, message) => {
    await expect(resolveSettings(flags as Record<string, string | boolean>, worldOf({ env }))).rejects.toThrow(message);
  });
});

test.each<[what: string, flags: Record<string, string>, env: Record<string, string>, config: object]>([
  ['with the way that it is for', { keyHeader: 'X-Key', keyIn: 'header' }, {}, {}],
  ['with a JWT, beside which the key is sent in a header', { keyHeader: 'X-Key' }, { FILINGS_JWT: 'a.b.c' }, {}],
  ['in a variable, for runs that choose it', {}, { FILINGS_KEY_HEADER: 'X-Key' }, {}],
  ['in the config file, for runs that choose it', {}, {}, { keyHeader: 'X-Key' }],
])('a header for the key is accepted %s', async (_, flags, env, config) => {
  expect((await resolve(config, flags, env)).settings.keyHeader).toBe('X-Key');
});

test('a carriage return that a shell has left at the end of a variable is ignored', async () => {
  const env = { FILINGS_JOBS: '7\r', FILINGS_BASE_URL: 'https://a.example\r', FILINGS_RATE: '\r' };
  const { settings } = await resolve({}, {}, env);
  expect([settings.jobs, settings.baseUrl?.href, settings.rate]).toEqual([7, 'https://a.example/', undefined]);
});

describe('the config file', () => {
  test.each([
    ['UTF-8', Buffer.from('\ufeff{"jobs":7}')],
    ['UTF-16', Buffer.from('\ufeff{"jobs":7}', 'utf16le')],
    ['big-endian UTF-16', Buffer.from('\ufeff{"jobs":7}', 'utf16le').swap16()],
  ])('may be %s with a byte-order mark, as editors on Windows write it', async (_, bytes) => {
    expect((await resolve(bytes)).settings.jobs).toBe(7);
  });

  const eitherFile = 'jwt: must have either keyFile or secretFile';
  test.each<[config: object | string, message: string, hint?: string]>([
    [{ jwt: {} }, eitherFile],
    [{ jwt: { keyFile: 'a', secretFile: 'b' } }, eitherFile],
    [{ jwt: { keyFile: 'a', lifetime: '9s' } }, 'jwt.lifetime: must be a duration of whole seconds from 10s'],
    [{ jwt: { keyfile: 'a' } }, 'jwt.keyfile: no such setting', 'did you mean keyFile?'],
    [{ jbos: 3 }, 'jbos: no such setting', 'did you mean jobs?'],
    [{ profiles: { a: { baseURL: 'x' } } }, 'profiles.a.baseURL: no such setting', 'did you mean baseUrl?'],
    [{ sandbox: true }, 'sandbox: no such setting'],
    [{ jobs: '3' }, 'jobs: must be a whole number from 1 to 256'],
    [{ allowHttp: 'true' }, 'allowHttp: must be true or false'],
    [{ keyIn: 'cookie' }, 'keyIn: must be authorization, header, query, path or basic'],
    [{ apiKeyCommand: 'pass x' }, 'apiKeyCommand: must be an array'],
    [{ profiles: { a: { rate: 'fast' } } }, 'profiles.a.rate: must be a number a second or a minute'],
    [{ profiles: [] }, 'profiles: must be an object'],
    [{ jobs: null }, 'jobs: must be a whole number from 1 to 256'],
    [[], 'must be a JSON object'],
    ['{"jobs": 3,\n  "apiKey": canary}', 'not valid JSON at line 2, column 13'],
    ['{"jobs": 3,\n  "jobs": 4}', ': jobs: is set twice, again at line 2, column 3'],
    [{ apiKeyCommand: Array(70_000).fill(0) }, 'larger than 128 KiB'],
    ['{"profiles":{"a":{"apiKey":"canary","api\\u004bey":"canary"}}}', ': profiles.a.apiKey: is set twice'],
    [`{"jobs":${'['.repeat(101)}`, 'not valid JSON at line 1, column'],
  ])('is refused with the content %j', async (config, message, hint) => {
    const error = await resolve(config).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(message), hint });
    expect(`${error.message} ${error.cause}`).not.toContain('canary');
  });

  test('may be empty', async () => {
    await expect(resolve('')).resolves.toBeDefined();
  });

  test('has paths relative to its folder, and ~/ stands for the home directory', async () => {
    const key = async (...args: Parameters<typeof resolve>) => (await resolve(...args)).settings.key;
    expect(await key({ apiKeyFile: 'sub/key' })).toMatchObject({ kind: 'file', path: join(folder.path, 'sub/key') });
    expect(await key({ apiKeyCommand: ['./get', '-x'] })).toMatchObject({ argv: [join(folder.path, 'get'), '-x'] });
    expect(await key({}, { apiKeyFile: 'key' })).toMatchObject({ kind: 'file', path: '/cwd/key' });
    const { token } = (await resolve({ jwtFile: '~/t' }, {}, { HOME: '/home/me' })).settings;
    expect(token).toMatchObject({ path: '/home/me/t' });
  });

  test.each([
    [{ apiKey: 'secret' }, 0o640],
    [{ apiKey: 'secret' }, 0o602],
    [{ profiles: { a: { apiKey: 'secret' } } }, 0o604],
    [{ baseUrl: 'https://api.example.com' }, 0o602],
    [{ profiles: { a: { allowHttp: true } } }, 0o666],
    ['not even JSON', 0o666],
  ])('is refused with the content %j and mode %o', async (config, mode) => {
    const path = await folder.ownFile('own.json', config, mode);
    const resolving = resolveSettings({ config: path }, worldOf({ uid: OWNER }));
    await expect(resolving).rejects.toMatchObject({ code: 'config', hint: `chmod 600 ${path}` });
  });

  test('of the pages and of help config has profiles that can be used', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/using.md'), 'utf8');
    const blocks = [...page.matchAll(/^```json\n(\{[^`]*"profiles"[^`]*)```/gm)].map(([, json = '']) =>
      JSON.parse(json),
    );
    expect(blocks).toHaveLength(1);
    for (const example of blocks) {
      for (const profile of Object.keys(example.profiles)) {
        const { settings, foreign } = await resolve(example, { profile });
        expect([settings.key?.kind, foreign]).toEqual(['file', undefined]);
      }
      expect((await resolve(example)).foreign).toBeUndefined();
    }
  });

  test('unsets settings of its top level with null in a profile', async () => {
    const top = { baseUrl: 'https://a.example', apiKey: 'k', jwt: { keyFile: 'f' }, jobs: 7, rate: '1/s' };
    const test = { baseUrl: 'https://b.example', apiKeyFile: 'g', jwt: null, jobs: null };
    const { settings, foreign } = await resolve({ ...top, profiles: { test } }, { profile: 'test' });
    expect(settings).toMatchObject({ key: { kind: 'file' }, token: undefined, jobs: 4, rate: 1 });
    expect(foreign).toBeUndefined();
  });

  test.each([
    { baseUrl: 'https://api.example.com', apiKeyFile: 'key' },
    { apiKeyCommand: ['pass'] },
    { profiles: { a: { apiKey: null } } },
  ])('may be readable for all: %j', (config) => expect(resolve(config, {}, {}, 0o644)).resolves.toBeDefined());

  test.skipIf(process.geteuid?.() !== 0)('is refused if another user owns it, even with --sandbox', async () => {
    const path = await folder.file('theirs.json', { baseUrl: 'https://api.example.com' }, 0o644);
    await chown(path, 12345, 12345);
    const resolving = resolveSettings({ sandbox: true, config: path }, worldOf());
    const message = `config file ${path}: another user owns it`;
    await expect(resolving).rejects.toMatchObject({ code: 'config', message });
  });

  test('is found by the XDG rules, and must exist if it is named', async () => {
    const HOME = folder.path;
    await folder.file('.config/filings/config.json', { jobs: 11 });
    await folder.file('xdg/filings/config.json', { jobs: 12 });
    const jobs = async (env: Record<string, string>) => (await resolveSettings({}, worldOf({ env }))).settings.jobs;
    expect(await jobs({ HOME })).toBe(11);
    expect(await jobs({ HOME, XDG_CONFIG_HOME: join(HOME, 'xdg') })).toBe(12);
    expect(await jobs({ HOME, XDG_CONFIG_HOME: 'relative' })).toBe(11);
    expect(await jobs({ HOME: join(HOME, 'nobody') })).toBe(4);
    await expect(jobs({ FILINGS_CONFIG: join(HOME, 'none.json') })).rejects.toThrow('no such file');
  });
});

describe('with --sandbox', () => {
  test('the settings of the service are ignored wherever they are set, and the others apply', async () => {
    const service = { baseUrl: 'https://a.example', apiKey: 'a', apiKeyFile: 'b', listing: { files: 'x' } };
    const config = { ...service, jobs: 2, profiles: { p: { jwt: { keyFile: 'f' }, retries: 9 } } };
    const keys = { FILINGS_API_KEY: 'k', FILINGS_API_KEY_FILE: 'f', FILINGS_KEY_IN: 'cookie' };
    const env = { FILINGS_SANDBOX: '1', FILINGS_BASE_URL: '::', ...keys };
    const { settings } = await resolve(config, { profile: 'p', keyHeader: 'host' }, env);
    const unused = { baseUrl: undefined, key: undefined, token: undefined, keyIn: 'authorization', listing: undefined };
    expect(settings).toMatchObject({ sandbox: true, ...unused, jobs: 2, retries: 9 });
  });

  test('only a config file that is named is read', async () => {
    const HOME = join(folder.path, 'broken');
    const path = await folder.file('broken/.config/filings/config.json', '{');
    const jobs = async (env: Record<string, string>) =>
      (await resolveSettings({ sandbox: true }, worldOf({ env }))).settings.jobs;
    expect(await jobs({ HOME })).toBe(4);
    await expect(jobs({ HOME, FILINGS_CONFIG: path })).rejects.toThrow('not valid JSON');
  });

  test.each<[Record<string, string | boolean>, Record<string, string>, RegExp]>([
    [{ sandbox: true }, {}, /^--base-url and --sandbox: /],
    [{}, { FILINGS_SANDBOX: '1' }, /^--base-url and FILINGS_SANDBOX: /],
    [{ sandbox: true }, { FILINGS_SANDBOX: '0' }, /^--base-url and --sandbox: /],
  ])('a base URL on the command line is refused: %j %j', async (flags, env, message) => {
    const attempt = resolveSettings({ baseUrl: 'https://api.example.com', ...flags }, worldOf({ env }));
    await expect(attempt).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });
});
