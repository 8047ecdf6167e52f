// What the stand-in service answers is tested in test/service/sandbox.test.ts and sandbox-gate.test.ts. Here: its
// options, its log and its notes.
import { describe, expect } from 'vitest';
import { ecPair } from '../key-pairs.ts';
import { forge, pem } from '../service/jwt-forge.ts';
import { ACCESSION, filings, jsonOf, serve, test } from './run.ts';

/** A service of this process. `status` requests a listing and returns the status. */
async function served(args: string[] = [], env: Record<string, string> = {}) {
  const running = await serve(args, env);
  const url = `${running.url.replace('0.0.0.0', '127.0.0.1')}/v1/filings?accession_no=${ACCESSION}`;
  return { ...running, status: async (headers = {}) => (await fetch(url, { headers })).status };
}

const withKey = (key: string) => ({ 'X-Service-Key': key });

describe('filings serve', () => {
  test.for`
    args                            | env
    ${['--api-key', 'given-key-1']} | ${{ FILINGS_API_KEY: 'environment-key' }}
    ${[]}                           | ${{ FILINGS_API_KEY: 'given-key-1' }}
  `('with $args and $env accepts given-key-1 only, which its log never has', async ({ args, env }) => {
    const { log, status, stop, url } = await served(args, env);
    expect([await status(withKey('given-key-1')), await status(withKey('sandbox-key'))]).toEqual([200, 401]);
    await fetch(`${url}/v1/download?accession_no=${ACCESSION}&file_name=given-%6bey-1%0A%1b%5b31m`);
    await stop();
    expect(log()).toMatch(/ GET \/v1\/download 0001234567-24-000001 \[redacted\]\\n\\x1b\[31m 401 /);
    expect(log()).not.toContain('given-key-1');
  });

  test('does not use the key of the config file, which belongs to the real service', async ({ place }) => {
    const path = await place.config({ baseUrl: 'https://h.example', apiKey: 'key-of-the-service' });
    const { status } = await served(['--config', path]);
    expect([await status(withKey('key-of-the-service')), await status(withKey('sandbox-key'))]).toEqual([401, 200]);
  });

  test('requires both key and token with --jwt-key and --jwt-secret', async ({ place: { write } }) => {
    const { privateKey, publicKey } = ecPair('P-256');
    const key = await write('public.pem', pem(publicKey), 0o644);
    const { status } = await served(['--jwt-key', key, '--jwt-secret', await write('secret', 's'.repeat(32))]);
    const nbf = Math.floor(Date.now() / 1000) - 5;
    const withToken = (...signing: Parameters<typeof forge>) => {
      const token = forge(signing[0], signing[1], { payload: { nbf, exp: nbf + 60 } });
      return status({ ...withKey('sandbox-key'), Authorization: `Bearer ${token}` });
    };
    expect(await withToken('ES256', privateKey)).toBe(200);
    expect(await withToken('HS256', Buffer.from('s'.repeat(32)))).toBe(200);
    expect(await status(withKey('sandbox-key'))).toBe(401);
  });

  test('warns if the secret of --jwt-secret ends in a line break', async ({ place: { write } }) => {
    const { log, stop } = await served(['--jwt-secret', await write('secret', `${'s'.repeat(32)}\n`)]);
    await stop();
    expect(log()).toMatch(/^filings: warning: secret file .*: the secret ends in a line break, /);
  });

  test('writes its log as JSON lines with --error-format json, and nothing with --quiet', async () => {
    const loud = await served(['--error-format', 'json', '--host', '0.0.0.0', '--api-key', 'a-key-of-my-own']);
    const quiet = await served(['--quiet']);
    for (const { status, stop } of [loud, quiet]) {
      await status();
      await stop();
    }
    expect([quiet.log(), jsonOf(loud.log())]).toEqual([
      '',
      [
        { warning: { message: expect.stringContaining('other machines can reach 0.0.0.0') } },
        { note: 'the API key comes from --api-key' },
        { log: expect.stringMatching(/GET \/v1\/filings .* 401 /) },
      ],
    ]);
  });

  test('closes its port at the end', async () => {
    const { status, stop } = await served();
    expect(await status()).toBe(401);
    await stop();
    await expect(status()).rejects.toThrow('fetch failed');
  });

  test.for`
    line                                               | exit | message
    ${'/nonexistent/filings'}                          | ${2} | ${'not a directory'}
    ${''}                                              | ${2} | ${'DIRECTORY: '}
    ${'--pages 0'}                                     | ${2} | ${'--pages: must be a whole number from 1'}
    ${'--host 192.0.2.1 --port 0 --api-key own-key-1'} | ${8} | ${'cannot listen on 192.0.2.1:0'}
    ${'--host 0.0.0.0 --port 0'}                       | ${2} | ${'--host 0.0.0.0: other machines can reach this address'}
    ${'--host :: --api-key sandbox-key'}               | ${2} | ${'--host ::: other machines'}
    ${'--host x.localhost'}                            | ${2} | ${'--host x.localhost: other machines'}
    ${'--jwt-key /nonexistent/key.pem'}                | ${2} | ${'no such file'}
  `("with '$line' exits with $exit: $message", async ({ line, exit, message }) => {
    const { exitCode, stderr, stdout } = await filings(['serve', ...line.split(' ')]);
    expect([exitCode, stdout, stderr]).toEqual([exit, '', expect.stringContaining(message)]);
  });
});
