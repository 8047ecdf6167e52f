import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { ecPair } from '../key-pairs.ts';
import { pem } from '../service/jwt-forge.ts';
import { commandIn, pasted } from './pasted.ts';
import { ACCESSION, filings, jsonOf, serve, workplace } from './run.ts';

/** A service of this process. `status` requests a listing and returns the status. */
async function served(args: string[] = [], env: Record<string, string> = {}) {
  const running = await serve(args, env);
  const url = `${running.url.replace('0.0.0.0', '127.0.0.1')}/v1/filings?accession_no=${ACCESSION}`;
  return { ...running, status: async (headers = {}) => (await fetch(url, { headers })).status };
}

const withKey = (key: string) => ({ 'X-Service-Key': key });

describe('filings serve', () => {
  test.each<{ args: string[]; env: Record<string, string> }>([
    { args: ['--api-key', 'flag-key-1'], env: { FILINGS_API_KEY: 'environment-key' } },
    { args: [], env: { FILINGS_API_KEY: 'flag-key-1' } },
  ])('uses the key of $args before that of $env', async ({ args, env }) => {
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

  test('suggests a command that lists a filing of the directory', async () => {
    const { write, path, filings } = await workplace();
    await write('0-notes.txt', '');
    await write('0009999999-24-000009/a.txt', 'a');
    const { log } = await served([path]);
    const listed = await filings(pasted(commandIn(log())));
    expect([listed.exitCode, `${listed.stdout}`, listed.stderr]).toEqual([0, 'a.txt\n', '']);
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
      { note: 'the API key is that of --api-key' },
      { log: expect.stringMatching(/GET \/v1\/filings .* 401 /) },
    ]);
  });

  test.each<{ line: string; exit?: number; message: string }>([
    { line: '/nonexistent/filings', message: 'not a directory' },
    { line: '', message: 'DIRECTORY: ' },
    { line: '--pages 0', message: '--pages: must be a whole number from 1' },
    { line: '--host 192.0.2.1 --port 0 --api-key own-key-1', exit: 8, message: 'cannot listen on 192.0.2.1:0' },
    { line: '--host 0.0.0.0 --port 0', message: '--host 0.0.0.0: other machines may reach it' },
    { line: '--host :: --api-key sandbox-key', message: '--host ::: other machines' },
    { line: '--host x.localhost', message: '--host x.localhost: other machines' },
    { line: '--jwt-key /nonexistent/key.pem', message: 'no such file' },
  ])('rejects $line: $message', async ({ line, exit = 2, message }) => {
    const { exitCode, stderr, stdout } = await filings(['serve', ...line.split(' ')]);
    expect([exitCode, stdout]).toEqual([exit, '']);
    expect(stderr).toMatch(/^filings: /);
    expect(stderr).toContain(message);
  });
});
