import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { ACCESSION, workplace } from './run.ts';

async function refusing() {
  const server = await startScripted((socket) => void socket.write(head(401, { 'Content-Length': 0 })));
  onTestFinished(() => server.close());
  const place = await workplace();
  const file = join(place.home, 'key');
  await writeFile(file, 'the-key-of-a-file\n', { mode: 0o600 });
  const folder = join(place.home, '.config/filings');
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'config.json');
  const write = async (config: object) => {
    await writeFile(path, JSON.stringify({ baseUrl: server.url, ...config }));
    await chmod(path, 0o600);
  };
  return { place, file, path, write, env: { FILINGS_BASE_URL: server.url } };
}

test.each<[string, string[], Record<string, string>]>([
  ['--api-key', ['--api-key', 'a-key-of-a-flag'], {}],
  ['--api-key-file', ['--api-key-file', '{file}'], {}],
  ['FILINGS_API_KEY', [], { FILINGS_API_KEY: 'a-key-of-the-environment' }],
  ['FILINGS_API_KEY_FILE', [], { FILINGS_API_KEY_FILE: '{file}' }],
])('a 401 says that the key is from %s', async (source, flags, env) => {
  const { place, file, env: service } = await refusing();
  const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace('{file}', file)]));
  const args = [...flags.map((flag) => flag.replace('{file}', file)), 'list', ACCESSION];
  const { exitCode, stderr } = await place.filings(args, { ...service, ...own });
  expect([exitCode, stderr]).toEqual([4, expect.stringContaining(`hint: check the API key from ${source}, how`)]);
  expect(stderr).not.toMatch(/a-key-of|the-key-of/);
});

test.each<[string, object, string[]]>([
  ['apiKey', { apiKey: 'a-key-of-the-file' }, []],
  ['apiKeyCommand', { apiKeyCommand: ['echo', 'a-key-of-a-command'] }, []],
  ['profiles.p.apiKey', { profiles: { p: { apiKey: 'a-key-of-a-profile' } } }, ['--profile', 'p']],
])('a 401 says that the key is %s of the config file', async (member, config, flags) => {
  const { place, path, write } = await refusing();
  await write(config);
  const { exitCode, stderr } = await place.filings([...flags, 'list', ACCESSION], { PATH: process.env.PATH ?? '' });
  expect([exitCode, stderr]).toEqual([4, expect.stringContaining(`${path}: ${member}, how`)]);
  expect(stderr).not.toContain('a-key-of');
});

test('with a JWT it names both', async () => {
  const { place, env } = await refusing();
  const token = { FILINGS_JWT: 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl', FILINGS_API_KEY: 'a-key' };
  const { stderr } = await place.filings(['list', ACCESSION], { ...env, ...token });
  expect(stderr).toMatch(/hint: check FILINGS_API_KEY and FILINGS_JWT: filings token inspect/);
});
