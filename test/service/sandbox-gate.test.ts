import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { loadSecret } from '../../src/jwt/keys.ts';
import { ecPair, rsaPair } from '../key-pairs.ts';
import { CLAIMS, forge, loadVerificationKey, NOW, pem } from './jwt-forge.ts';
import { download, json, KEY, type Running, sandbox } from './sandbox-fixture.ts';

const FILES = { '0001234567-24-000001/a.txt': 'alpha' };
const now = () => NOW * 1000;
const target = download('a.txt');
const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;

/** For each way to send a key, the target and the headers that contain it. */
const WAYS = {
  authorization: (key: string) => [target, { Authorization: key }],
  header: (key: string) => [target, { 'x-service-KEY': key }],
  query: (key: string) => [`${target}&apikey=${encodeURIComponent(key)}`, {}],
  path: (key: string) => [target.replace('?', `/APIKEY-${encodeURIComponent(key)}?`), {}],
  basic: (key: string) => [target, { Authorization: basic('service', key) }],
} satisfies Record<string, (key: string) => readonly [target: string, headers: Record<string, string>]>;

function getWithKey(running: Running, way: keyof typeof WAYS, key: string, more: Record<string, string> = {}) {
  const [path, headers] = WAYS[way](key);
  return running.get(path, { ...headers, ...more });
}

describe('a sandbox with a key alone', () => {
  test.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('accepts the right key and no other by %s', async (way) => {
    const running = await sandbox(FILES, { now });
    const reply = await getWithKey(running, way, KEY);
    expect([reply.status, reply.body.toString()]).toEqual([200, 'alpha']);
    for (const wrong of [`${KEY}x`, KEY.slice(1)]) {
      const refused = await getWithKey(running, way, wrong);
      expect(refused.headers['content-type']).toBe('application/problem+json');
      expect(refused.headers['www-authenticate']).toMatch(/^Basic realm="/);
      expect(json(refused)).toMatchObject({ status: 401, detail: 'the API key is invalid' });
    }
  });

  const plain = 'secret-1';
  test.each`
    what                                | path                                         | headers                                                         | status
    ${'no key'}                         | ${target}                                    | ${{}}                                                           | ${401}
    ${'an empty key segment'}           | ${target.replace('?', '/APIKEY-?')}          | ${{}}                                                           | ${401}
    ${'another user'}                   | ${target}                                    | ${{ Authorization: basic('admin', plain) }}                     | ${401}
    ${'the basic scheme in lower case'} | ${target}                                    | ${{ Authorization: basic('service', plain).replace('B', 'b') }} | ${200}
    ${'Bearer with the key'}            | ${target}                                    | ${{ Authorization: `Bearer ${plain}` }}                         | ${401}
    ${'two right ways'}                 | ${`${target}&apikey=${plain}`}               | ${{ Authorization: plain }}                                     | ${200}
    ${'a right and a wrong key'}        | ${`${target}&apikey=wrong`}                  | ${{ Authorization: plain }}                                     | ${401}
    ${'the header twice'}               | ${target}                                    | ${{ 'X-Service-Key': [plain, 'wrong'] }}                        | ${401}
    ${'a key segment before a slash'}   | ${target.replace('?', `/APIKEY-${plain}/?`)} | ${{}}                                                           | ${200}
    ${'only a key segment'}             | ${`/APIKEY-${plain}`}                        | ${{}}                                                           | ${404}
    ${'a token that is not required'}   | ${target}                                    | ${{ 'X-Service-Key': plain, Authorization: 'Bearer x' }}        | ${200}
  `('has the status $status for $what', async ({ path, headers, status }) => {
    expect((await (await sandbox(FILES, { apiKey: plain })).get(path, headers)).status).toBe(status);
  });
});

describe('a sandbox with a key and JWTs', () => {
  const [rsa, ec, secret] = [rsaPair('rsa'), ecPair('P-256'), randomBytes(32)];
  const publicKeys = [rsa, ec].map(({ publicKey }) => loadVerificationKey(pem(publicKey), 'key'));
  const jwtKeys = [...publicKeys, loadSecret(secret, 'secret')];
  const SIGNERS = { RS256: rsa.privateKey, PS256: rsa.privateKey, ES256: ec.privateKey, HS256: secret } as const;

  test.each(Object.entries(SIGNERS))('accepts %s with the right key only', async (alg, key) => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const headers = { Authorization: `Bearer ${forge(alg, key)}` };
    for (const way of ['header', 'query', 'path'] as const) {
      expect((await getWithKey(running, way, KEY, headers)).status).toBe(200);
      expect((await getWithKey(running, way, 'wrong', headers)).status).toBe(401);
    }
    expect((await running.get(target, headers)).status).toBe(401);
  });

  test('refuses a token that has expired, and says so', async () => {
    const token = forge('ES256', ec.privateKey, { payload: { ...CLAIMS, nbf: NOW - 60, exp: NOW } });
    const reply = await getWithKey(await sandbox(FILES, { now, jwtKeys }), 'header', KEY, {
      Authorization: `bearer ${token}`,
    });
    expect(json(reply)).toMatchObject({ status: 401, detail: expect.stringMatching(/exp/) });
  });
});
