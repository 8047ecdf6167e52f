import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { ecPair } from '../key-pairs.ts';
import { pem } from '../service/jwt-forge.ts';
import { ACCESSION, filings, jsonOf, serve, workplace } from './run.ts';

/** A service of this process. `status` requests a listing and returns the status. */
async function served(args: string[] = [], env: Record<string, string> = {}) {
  const running = await serve(args, env);
  const url = `${running.url.replace('0.0.0.0', '127.0.0.1')}/v1/filings?accession_no=${ACCESSION}`;
  return { ...running, status: async (headers = {}) => (await fetch(url, { headers })).status };
}

const withKey = (key: string) => ({ 'X-Service-Key': key });

describe('filings serve', () => {
  it.each<[string, string[], Record<string, string>]>([
    ['a flag', ['--api-key', 'flag-key-1'], { FILINGS_API_KEY: 'environment-key' }],
    ['the environment', [], { FILINGS_API_KEY: 'flag-key-1' }],
  ])('uses the key from %s', async (_, args, env) => {
    const { log, status, stop } = await served(args, env);
    expect([await status(withKey('flag-key-1')), await status(withKey('sandbox-key'))]).toEqual([200, 401]);
    await stop();
    expect(log()).not.toContain('flag-key-1');
  });

  it('does not use the key of the config file, which belongs to the real service', async () => {
    const { config } = await workplace();
    const path = await config({ baseUrl: 'https://h.example', apiKey: 'key-of-the-service' });
    const { status } = await served(['--config', path]);
    expect([await status(withKey('key-of-the-service')), await status(withKey('sandbox-key'))]).toEqual([401, 200]);
  });

  it('requires both key and token with --jwt-key and --jwt-secret', async () => {
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

  it.each<[pages: string, sizes: readonly number[]]>([
    ['3', [3, 3, 0, 3, 2]],
    ['3,0', [3, 3, 3, 3, 2]],
  ])('sends listings in pages with --pages %s', async (pages, sizes) => {
    const { url } = await serve(['--pages', pages]);
    const sizeOf = async (query: string) => {
      const response = await fetch(`${url}/v1/filings?accession_no=${ACCESSION}${query}`, {
        headers: withKey('sandbox-key'),
      });
      return response.status === 200 ? ((await response.json()) as unknown[]).length : 0;
    };
    const queries = ['', '&page_size=9', '&page_number=0', '&page_number=1', '&page_size=2&page_number=1'];
    expect(await Promise.all(queries.map(sizeOf))).toEqual(sizes);
  });

  it.each(['0', 'x', '3,2', '3,'])('rejects --pages %s', async (pages) => {
    const { exitCode, stderr } = await filings(['serve', '--port', '0', '--pages', pages]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--pages: must be a number of records')]);
  });

  it.each(['3', '3,0'])(
    'lists the same files with --pages %s as without, with and without --page-size',
    async (pages) => {
      const list = async (args: string[], more: string[] = []) => {
        const { url, stop } = await serve(args);
        const { stdout } = await filings(['list', ACCESSION, '--base-url', url, '--api-key', 'sandbox-key', ...more]);
        await stop();
        return `${stdout}`;
      };
      const whole = await list([]);
      expect(whole.split('\n').length).toBeGreaterThan(3);
      expect(await list(['--pages', pages], ['--page-size', '3'])).toBe(whole);
      expect(await list(['--pages', pages], ['--page-size', '2'])).toBe(whole);
    },
  );

  it('answers with 429 over the rate limit', async () => {
    const { status } = await served(['--rate-limit', '2/m']);
    const ask = () => status({ Authorization: 'sandbox-key' });
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
  });

  it('writes its log as JSON lines with --error-format json, and nothing with --quiet', async () => {
    const loud = await served(['--error-format', 'json', '--host', '0.0.0.0', '--api-key', 'a-key-of-my-own']);
    const quiet = await served(['--quiet']);
    for (const { status, stop } of [loud, quiet]) {
      await status();
      await stop();
    }
    expect(quiet.log()).toBe('');
    expect(jsonOf(loud.log())).toEqual([
      { note: expect.stringMatching(/^warning: 0\.0\.0\.0 /) },
      { note: 'the key is the one of --api-key' },
      { note: expect.stringMatching(/^try it: filings list [\d-]+ --base-url \S+ --allow-http --api-key KEY$/) },
      { log: expect.stringMatching(/GET \/v1\/filings .* 401 /) },
    ]);
  });

  it.each<[string, string, string]>([
    ['a missing directory', '/nonexistent/filings', 'not a directory'],
    ['an empty name', '', 'DIRECTORY: '],
    ['an address of another machine', '--host 192.0.2.1 --port 0 --api-key own-key-1', 'cannot listen on 192.0.2.1:0'],
    ['other machines without a key', '--host 0.0.0.0 --port 0', '--host 0.0.0.0: other machines may reach it'],
    ['other machines with the default key', '--host :: --api-key sandbox-key', '--host ::: other machines'],
    ['a name that may resolve to another address', '--host x.localhost', '--host x.localhost: other machines'],
    ['a bad latency', '--latency -1', '--latency'],
    ['a bad rate', '--rate-limit fast', '--rate-limit: '],
    ['a missing JWT key', '--jwt-key /nonexistent/key.pem', 'no such file'],
  ])('rejects %s', async (_, line, why) => {
    const { exitCode, stderr, stdout } = await filings(['serve', ...line.split(' ')]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^filings: /);
    expect(stderr).toContain(why);
  });
});
