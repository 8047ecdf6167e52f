import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { ACCESSION, workplace } from './run.ts';

const OTHER = 'https://other.example';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJuYmYiOjB9.c2lnbmF0dXJlLWNhbmFyeQ';

/** A service, and a place whose config file is made for it. */
async function setUp(config: (url: string, place: string) => object, status = 200) {
  const server = await scripted((socket) => {
    socket.end(`${head(status, { 'Content-Length': 9, Connection: 'close' })}["a.htm"]`);
  });
  const place = await workplace();
  const path = join(place.home, '.config/filings/config.json');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(config(server.url, place.path)), { mode: 0o600 });
  for (const [name, text] of Object.entries({ 'file.key': 'file-key', 'file.jwt': TOKEN, secret: 's'.repeat(40) })) {
    await writeFile(join(place.path, name), text, { mode: 0o600 });
  }
  const keysSent = () =>
    server.requests.map(({ headers }) => headers['x-service-key'] ?? headers.authorization ?? 'none');
  return { ...place, url: server.url, path, keysSent, requests: server.requests };
}

type Config = Parameters<typeof setUp>[0];
type Run = (url: string) => { readonly args?: string[]; readonly env?: Record<string, string> };

const asIs: Run = () => ({});

describe('a credential of the config file goes to the origin of its level’s base URL', () => {
  test.each<[what: string, config: Config, run: Run, sent: string]>([
    ['beside its base URL', (baseUrl) => ({ baseUrl, apiKey: 'own-key' }), asIs, 'own-key'],
    [
      'which a flag says with another path',
      (baseUrl) => ({ baseUrl, apiKey: 'own-key' }),
      (url) => ({ args: ['--base-url', `${url}/elsewhere`] }),
      'own-key',
    ],
    ['a file', (baseUrl, place) => ({ baseUrl, apiKeyFile: join(place, 'file.key') }), asIs, 'file-key'],
    ['a command', (baseUrl) => ({ baseUrl, apiKeyCommand: ['echo', 'told-key'] }), asIs, 'told-key'],
    [
      'a profile’s',
      (baseUrl) => ({ baseUrl: OTHER, apiKey: 'top-key', profiles: { p: { baseUrl, apiKey: 'own-key' } } }),
      () => ({ args: ['--profile', 'p'] }),
      'own-key',
    ],
    [
      'a profile’s that inherits the base URL',
      (baseUrl) => ({ baseUrl, apiKey: 'top-key', profiles: { p: { apiKey: 'own-key' } } }),
      () => ({ args: ['--profile', 'p'] }),
      'own-key',
    ],
    [
      'the top’s, with a profile of the same origin',
      (baseUrl) => ({ baseUrl, apiKey: 'top-key', profiles: { p: { baseUrl: `${baseUrl}/p` } } }),
      () => ({ args: ['--profile', 'p'] }),
      'top-key',
    ],
    [
      'a key of the environment beside a profile',
      (baseUrl) => ({ baseUrl: OTHER, apiKey: 'top-key', profiles: { p: { baseUrl } } }),
      () => ({ env: { FILINGS_API_KEY: 'env-key', FILINGS_PROFILE: 'p' } }),
      'env-key',
    ],
    [
      'a flag’s in the place of a lower level’s other source',
      () => ({ baseUrl: OTHER, apiKey: 'top-key' }),
      (url) => ({ args: ['--base-url', url, '--api-key-file', 'file.key'] }),
      'file-key',
    ],
  ])('%s', async (_, config, run, sent) => {
    const place = await setUp(config);
    const { args = [], env = {} } = run(place.url);
    const { exitCode, stderr } = await place.filings(['list', ACCESSION, ...args], env);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(place.keysSent()).toEqual([sent]);
  });
});

describe('and to no other', () => {
  test.each<[what: string, config: Config, run: Run, says: RegExp, hint: RegExp]>([
    [
      'the run’s base URL is a flag’s',
      () => ({ baseUrl: OTHER, apiKey: 'own-key' }),
      (url) => ({ args: ['--base-url', url] }),
      /config\.json: apiKey: the API key is for https:\/\/other\.example; not sent to http:\/\/127/,
      /for this host use --api-key-file FILE or FILINGS_API_KEY$/m,
    ],
    [
      'another port',
      (url) => ({ baseUrl: url.replace(/\d+$/, '1'), apiKey: 'own-key' }),
      (url) => ({ args: ['--base-url', url] }),
      /apiKey: the API key is for http:\/\/127\.0\.0\.1:1; not sent/,
      /--api-key-file/,
    ],
    [
      'no base URL is beside it',
      () => ({ apiKey: 'own-key' }),
      (url) => ({ args: ['--base-url', url] }),
      /config\.json: apiKey: no baseUrl is set beside it; not sent to http:\/\/127/,
      /if it is for this host: filings config set base-url http:\/\/127\.0\.0\.1:\d+$/m,
    ],
    [
      'a profile’s belongs to the top’s base URL, not to the flag’s',
      () => ({ baseUrl: OTHER, profiles: { p: { apiKey: 'own-key' } } }),
      (url) => ({ args: ['--profile', 'p', '--base-url', url] }),
      /profiles\.p\.apiKey: the API key is for https:\/\/other\.example/,
      /--api-key-file/,
    ],
    [
      'a JWT',
      (_, place) => ({ baseUrl: OTHER, jwtFile: join(place, 'file.jwt') }),
      (url) => ({ args: ['--base-url', url], env: { FILINGS_API_KEY: 'env-key' } }),
      /config\.json: jwtFile: the JWT is for https:\/\/other\.example; not sent/,
      /for this host use --jwt-file FILE or FILINGS_JWT$/m,
    ],
    [
      'what mints JWTs',
      (_, place) => ({ jwt: { secretFile: join(place, 'secret') } }),
      (url) => ({ env: { FILINGS_BASE_URL: url, FILINGS_API_KEY: 'env-key' } }),
      /config\.json: jwt: no baseUrl is set beside it; not sent/,
      /filings config set base-url/,
    ],
  ])('%s', async (_, config, run, says, hint) => {
    const place = await setUp(config);
    const { args = [], env = {} } = run(place.url);
    for (const command of [
      ['list', ACCESSION],
      ['download', ACCESSION, 'a.htm'],
      ['config', 'check'],
    ]) {
      const { exitCode, stderr, stdout } = await place.filings([...command, ...args], env);
      expect(exitCode, stderr).toBe(2);
      expect(stderr).toMatch(says);
      expect(stderr).toMatch(hint);
      expect(stderr + stdout).not.toContain('own-key');
      if (command[0] === 'config') expect(stdout.toString()).toMatch(/^(key|token)\twrong\t.*; not sent to http/m);
    }
    expect(place.requests).toHaveLength(0);
  });

  test('the command of the hint puts it right', async () => {
    const place = await setUp(() => ({ apiKey: 'own-key' }));
    const env = { FILINGS_BASE_URL: place.url };
    const { stderr } = await place.filings(['list', ACCESSION], env);
    const [, command = ''] = /: filings (config set .*)$/m.exec(stderr) ?? [];
    expect((await place.filings(command.split(' '), env)).exitCode).toBe(0);
    expect((await place.filings(['list', ACCESSION], env)).exitCode).toBe(0);
    expect(place.keysSent()).toEqual(['own-key']);
  });
});

test.each([
  { baseUrl: OTHER, apiKey: 'own-key' },
  { apiKey: 'own-key', apiKeyFile: 'missing' },
])('the sandbox reads no credential of the config file: %j', async (config) => {
  const place = await setUp(() => config);
  const { exitCode, stderr } = await place.filings(['list', ACCESSION, '--sandbox']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
});

describe('a 401 says where the refused key came from', () => {
  test.each<[from: string, config: Config, run: Run]>([
    ['--api-key-file,', () => ({}), (url) => ({ args: ['--base-url', url, '--api-key-file', 'file.key'] })],
    ['.config/filings/config.json: apiKey,', (baseUrl) => ({ baseUrl, apiKey: 'bad-key-1' }), asIs],
    [
      'config.json: profiles.p.apiKeyCommand,',
      (baseUrl) => ({ profiles: { p: { baseUrl, apiKeyCommand: ['echo', 'bad-key-1'] } } }),
      () => ({ args: ['--profile', 'p'] }),
    ],
    [
      'FILINGS_API_KEY and FILINGS_JWT:',
      () => ({}),
      (url) => ({ env: { FILINGS_BASE_URL: url, FILINGS_API_KEY: 'bad-key-1', FILINGS_JWT: TOKEN } }),
    ],
  ])('%s', async (from, config, run) => {
    const place = await setUp(config, 401);
    const { args = [], env = {} } = run(place.url);
    const { exitCode, stderr } = await place.filings(['list', ACCESSION, ...args], env);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/hint: check /);
    expect(stderr).toContain(from);
    expect(stderr).not.toMatch(/bad-key-1|file-key/);
  });
});
