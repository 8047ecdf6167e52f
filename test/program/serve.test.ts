import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { ecPair } from '../key-pairs.ts';
import { pem } from '../service/jwt-forge.ts';
import { ACCESSION, filings, jsonOf, serve, workplace } from './run.ts';

/** A service of this process. `status` requests a listing and returns the status. */
async function served(args: string[] = [], env: Record<string, string> = {}) {
  const running = await serve(args, env);
  const url = `${running.url.replace('0.0.0.0', '127.0.0.1')}/v1/filings?accession_no=${ACCESSION}`;
  return { ...running, status: async (headers = {}) => (await fetch(url, { headers })).status };
}

const SAMPLES = join(import.meta.dirname, '../../samples', ACCESSION);
const withKey = (key: string) => ({ 'X-Service-Key': key });

describe('filings serve', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['a flag', ['--api-key', 'flag-key-1'], { FILINGS_API_KEY: 'environment-key' }],
    ['the environment', [], { FILINGS_API_KEY: 'flag-key-1' }],
  ])('uses the key from %s', async (_, args, env) => {
    const { log, status, stop } = await served(args, env);
    expect([await status(withKey('flag-key-1')), await status(withKey('sandbox-key'))]).toEqual([200, 401]);
    await stop();
    expect(log()).not.toContain('flag-key-1');
  });

  test('does not use the key of the config file, which belongs to the real service', async () => {
    const { config } = await workplace();
    const path = await config({ baseUrl: 'https://h.example', apiKey: 'key-of-the-service' });
    const { status } = await served(['--config', path]);
    expect([await status(withKey('key-of-the-service')), await status(withKey('sandbox-key'))]).toEqual([401, 200]);
  });

  test('requires both key and token with --jwt-key and --jwt-secret', async () => {
    const { write } = await workplace();
    const { privateKey, publicKey } = ecPair('P-256');
    const key = await write('public.pem', pem(publicKey), 0o644);
    const secret = await write('secret', 's'.repeat(32));
    const { status } = await served(['--jwt-key', key, '--jwt-secret', secret]);
    const now = Math.floor(Date.now() / 1000);
    const withToken = async (alg: string, signing: Parameters<SignJWT['sign']>[0]) => {
      const token = new SignJWT({ nbf: now - 5, exp: now + 60 }).setProtectedHeader({ alg });
      return status({ ...withKey('sandbox-key'), Authorization: `Bearer ${await token.sign(signing)}` });
    };
    expect(await withToken('ES256', privateKey)).toBe(200);
    expect(await withToken('HS256', Buffer.from('s'.repeat(32)))).toBe(200);
    expect(await withToken('HS256', Buffer.from('t'.repeat(32)))).toBe(401);
    expect(await status(withKey('sandbox-key'))).toBe(401);
  });

  test('sends listings in pages with --pages, which list reads as the note describes them', async () => {
    const { write, filings } = await workplace();
    const { privateKey, publicKey } = ecPair('P-256');
    const options = ['--pages', '4', '--jwt-key', await write('public.pem', pem(publicKey), 0o644)];
    await write('PRIVATE_KEY', pem(privateKey));
    const { log } = await serve([...options, '--api-key-file', await write('key file', 'a-key-1234')]);
    const lines = log().match(/filings .*/g) ?? [];
    expect(lines).toHaveLength(3);
    const outputs: string[] = [];
    for (const line of lines) {
      const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
      const { exitCode, stdout, stderr } = await filings(words.slice(1));
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      outputs.push(`${stdout}`);
    }
    expect(outputs[2]).toBe(`${(await readdir(SAMPLES)).sort().join('\n')}\n`);
  });

  test('suggests to list a filing of the directory', async () => {
    const { write, path } = await workplace();
    await write('0-notes.txt', '');
    await write('0009999999-24-000009/a.txt', 'a');
    const { log } = await serve([path]);
    expect(log()).toMatch(/try it: filings list 0009999999-24-000009 --base-url \S+ --api-key sandbox-key\n/);
  });

  test.each(['0', 'x', '3,2', '3,'])('rejects --pages %s', async (pages) => {
    const { exitCode, stderr } = await filings(['serve', '--port', '0', '--pages', pages]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--pages: must be a whole number from 1')]);
  });

  test('redacts the key in its log, and escapes control characters', async () => {
    const { url, log, stop } = await served(['--api-key', 'canary-0123456789']);
    await fetch(`${url}/v1/download?accession_no=${ACCESSION}&file_name=canary-%30123456789%0A%1b%5b31m`);
    await stop();
    expect(log()).toMatch(/ GET \/v1\/download 0001234567-24-000001 \[redacted\]\\n\\x1b\[31m 401 /);
  });

  test('writes its log as JSON lines with --error-format json, and nothing with --quiet', async () => {
    const loud = await served(['--error-format', 'json', '--host', '0.0.0.0', '--api-key', 'a-key-of-my-own']);
    const quiet = await served(['--quiet']);
    for (const { status, stop } of [loud, quiet]) {
      await status();
      await stop();
    }
    expect(quiet.log()).toBe('');
    const [warning, ...lines] = jsonOf(loud.log());
    expect(JSON.stringify(warning)).toContain('other machines may reach 0.0.0.0');
    expect(lines).toEqual([
      { note: 'the key is the one of --api-key' },
      { note: expect.stringMatching(/^try it: filings list [\d-]+ --base-url \S+ --allow-http --api-key KEY$/) },
      { log: expect.stringMatching(/GET \/v1\/filings .* 401 /) },
    ]);
  });

  test.each<[string, string, string]>([
    ['a missing directory', '/nonexistent/filings', 'not a directory'],
    ['an empty name', '', 'DIRECTORY: '],
    ['an address of another machine', '--host 192.0.2.1 --port 0 --api-key own-key-1', 'cannot listen on 192.0.2.1:0'],
    ['other machines without a key', '--host 0.0.0.0 --port 0', '--host 0.0.0.0: other machines may reach it'],
    ['other machines with the default key', '--host :: --api-key sandbox-key', '--host ::: other machines'],
    ['a name that may resolve to another address', '--host x.localhost', '--host x.localhost: other machines'],
    ['a missing JWT key', '--jwt-key /nonexistent/key.pem', 'no such file'],
  ])('rejects %s', async (_, line, why) => {
    const { exitCode, stderr, stdout } = await filings(['serve', ...line.split(' ')]);
    expect([exitCode, stdout]).toEqual([why.startsWith('cannot listen') ? 8 : 2, '']);
    expect(stderr).toMatch(/^filings: /);
    expect(stderr).toContain(why);
  });
});
