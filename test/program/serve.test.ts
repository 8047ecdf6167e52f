import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { ecPair } from '../key-pairs.ts';
import { ACCESSION, filings, serve } from './run.ts';

const LISTING = `/v1/filings?accession_no=${ACCESSION}`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filings-serve-'));
  return () => rm(folder, { recursive: true, force: true });
});

const environment = (env: Record<string, string> = {}) => ({ PATH: process.env.PATH ?? '', HOME: folder, ...env });
const fails = (args: string[]) => filings(['serve', ...args], { env: environment() });

/** A service of this process; `status` asks it. */
async function served(args: string[] = [], env: Record<string, string> = {}) {
  const running = await serve(args, environment(env));
  const status = async (target: string, headers: Record<string, string> = {}) => {
    const response = await fetch(running.url + target, { headers });
    await response.arrayBuffer();
    return response.status;
  };
  return { ...running, status };
}

describe('filings serve', () => {
  it.each<[string, string[], Record<string, string>]>([
    ['a flag', ['--api-key', 'flag-key-1'], { FILINGS_API_KEY: 'environment-key' }],
    ['the environment', [], { FILINGS_API_KEY: 'flag-key-1' }],
  ])('takes the key from %s', async (_, args, env) => {
    const running = await served(args, env);
    expect(await running.status(LISTING, { 'X-Service-Key': 'flag-key-1' })).toBe(200);
    expect(await running.status(LISTING, { 'X-Service-Key': 'sandbox-key' })).toBe(401);
    await running.stop();
    expect(running.log()).not.toContain('flag-key-1');
  });

  it('never takes the key of the config file, which is for the real service', async () => {
    const config = join(folder, 'config.json');
    await writeFile(config, JSON.stringify({ baseUrl: 'https://h.example', apiKey: 'key-of-the-service' }), {
      mode: 0o600,
    });
    const running = await served(['--config', config]);
    expect(await running.status(LISTING, { 'X-Service-Key': 'key-of-the-service' })).toBe(401);
    expect(await running.status(LISTING, { 'X-Service-Key': 'sandbox-key' })).toBe(200);
  });

  it('wants key and token with --jwt-key and --jwt-secret', async () => {
    const { privateKey, publicKey } = ecPair('P-256');
    const pem = join(folder, 'public.pem');
    const secret = join(folder, 'secret');
    await writeFile(pem, publicKey.export({ type: 'spki', format: 'pem' }), { mode: 0o644 });
    await writeFile(secret, 's'.repeat(32), { mode: 0o600 });
    const running = await served(['--jwt-key', pem, '--jwt-secret', secret]);
    const now = Math.floor(Date.now() / 1000);
    const token = (alg: string, key: Parameters<SignJWT['sign']>[0]) =>
      new SignJWT({ nbf: now - 5, exp: now + 60 }).setProtectedHeader({ alg }).sign(key);
    const bearer = (text: string) => ({ 'X-Service-Key': 'sandbox-key', Authorization: `Bearer ${text}` });
    expect(await running.status(LISTING, bearer(await token('ES256', privateKey)))).toBe(200);
    expect(await running.status(LISTING, bearer(await token('HS256', Buffer.from('s'.repeat(32)))))).toBe(200);
    expect(await running.status(LISTING, bearer(await token('HS256', Buffer.from('t'.repeat(32)))))).toBe(401);
    expect(await running.status(LISTING, { 'X-Service-Key': 'sandbox-key' })).toBe(401);
    await running.stop();
  });

  it('limits the rate', async () => {
    const running = await served(['--rate-limit', '2/m']);
    const headers = { Authorization: 'sandbox-key' };
    expect(await running.status(LISTING, headers)).toBe(200);
    expect(await running.status(LISTING, headers)).toBe(200);
    expect(await running.status(LISTING, headers)).toBe(429);
    await running.stop();
  });

  it('writes JSON lines where errors are JSON, and nothing when quiet', async () => {
    const running = await served(['--error-format', 'json', '--host', '0.0.0.0', '--api-key', 'a-key-of-my-own']);
    await fetch(`${running.url.replace('0.0.0.0', '127.0.0.1')}${LISTING}`);
    await running.stop();
    const lines = running
      .log()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      { note: expect.stringMatching(/^warning: 0\.0\.0\.0 /) },
      { note: 'the key is the one of --api-key' },
      { note: expect.stringMatching(/^try it: filings list [\d-]+ --base-url \S+ --allow-http --api-key KEY$/) },
      { log: expect.stringMatching(/GET \/v1\/filings .* 401 /) },
    ]);
    const quiet = await served(['--quiet']);
    await quiet.status(LISTING);
    await quiet.stop();
    expect(quiet.log()).toBe('');
  });

  it.each<[string, string[], number, string]>([
    ['a missing directory', ['/nonexistent/filings'], 2, 'not a directory'],
    ['an empty name', [''], 2, 'DIRECTORY: '],
    [
      'a foreign host',
      ['--host', '192.0.2.1', '--port', '0', '--api-key', 'own-key-1'],
      2,
      'cannot listen on 192.0.2.1:0',
    ],
    [
      'other machines without a key',
      ['--host', '0.0.0.0', '--port', '0'],
      2,
      '--host 0.0.0.0: other machines may reach it',
    ],
    [
      'other machines with the default key',
      ['--host', '::', '--api-key', 'sandbox-key'],
      2,
      '--host ::: other machines',
    ],
    ['what is looked up like other machines', ['--host', 'x.localhost'], 2, '--host x.localhost: other machines'],
    ['a bad latency', ['--latency', '-1'], 2, '--latency'],
    ['a bad rate', ['--rate-limit', 'fast'], 2, '--rate-limit: '],
    ['a missing JWT key', ['--jwt-key', '/nonexistent/key.pem'], 2, 'no such file'],
  ])('refuses %s', async (_, args, status, why) => {
    const { exitCode, stderr, stdout } = await fails(args);
    expect([exitCode, stdout]).toEqual([status, '']);
    expect(stderr).toMatch(/^filings: /);
    expect(stderr).toContain(why);
  });
});
