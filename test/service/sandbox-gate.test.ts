import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadSecret } from '../../src/jwt/keys.ts';
import { ecPair, rsaPair } from '../key-pairs.ts';
import { CLAIMS, forge, loadVerificationKey, NOW, pem } from './jwt-forge.ts';
import { download, json, KEY, type Running, sandbox } from './sandbox-fixture.ts';

const FILES = { '0001234567-24-000001/a.txt': 'alpha' };
const now = () => NOW * 1000;
const target = download('a.txt');
const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;

/** By the way's name: a target and headers that carry the key that way. */
const WAYS = {
  authorization: (key: string) => [target, { Authorization: key }],
  header: (key: string) => [target, { 'x-service-KEY': key }],
  query: (key: string) => [`${target}&apikey=${encodeURIComponent(key)}`, {}],
  path: (key: string) => [target.replace('?', `/APIKEY-${encodeURIComponent(key)}?`), {}],
  basic: (key: string) => [target, { Authorization: basic('service', key) }],
} satisfies Record<string, (key: string) => readonly [target: string, headers: Record<string, string>]>;

function go(running: Running, way: keyof typeof WAYS, key: string, more: Record<string, string> = {}) {
  const [asked, headers] = WAYS[way](key);
  return running.get(asked, { ...headers, ...more });
}

describe('the key alone', () => {
  it.each(Object.keys(WAYS) as (keyof typeof WAYS)[])(
    '%s: the right key comes in, a wrong one does not',
    async (way) => {
      const running = await sandbox(FILES, { now });
      const reply = await go(running, way, KEY);
      expect([reply.status, reply.body.toString()]).toEqual([200, 'alpha']);
      for (const wrong of [`${KEY}x`, KEY.slice(1), 'k y']) {
        const refused = await go(running, way, wrong);
        expect(refused.headers['content-type']).toBe('application/problem+json');
        expect(refused.headers['www-authenticate']).toMatch(/^Basic realm="/);
        expect(json(refused)).toMatchObject({ status: 401, detail: 'the API key is not valid' });
      }
    },
  );

  const plain = 'secret-1';
  it.each<[string, string, Record<string, string | string[]>, number]>([
    ['no key', target, {}, 401],
    ['an empty segment', target.replace('?', '/APIKEY-?'), {}, 401],
    ['another user', target, { Authorization: basic('admin', plain) }, 401],
    ['basic as a scheme', target, { Authorization: basic('service', plain).replace('B', 'b') }, 200],
    ['Bearer with the key', target, { Authorization: `Bearer ${plain}` }, 401],
    ['two right ways', `${target}&apikey=${plain}`, { Authorization: plain }, 200],
    ['right and wrong', `${target}&apikey=wrong`, { Authorization: plain }, 401],
    ['twice in the header', target, { 'X-Service-Key': [plain, 'wrong'] }, 401],
    ['a segment with a slash behind', target.replace('?', `/APIKEY-${plain}/?`), {}, 200],
    ['the segment alone', `/APIKEY-${plain}`, {}, 404],
    ['a token, while none is wanted', target, { 'X-Service-Key': plain, Authorization: 'Bearer x' }, 200],
  ])('%s', async (_, asked, headers, status) => {
    expect((await (await sandbox(FILES, { apiKey: plain })).get(asked, headers)).status).toBe(status);
  });
});

describe('key and JWT', () => {
  const [rsa, ec, secret] = [rsaPair('rsa'), ecPair('P-256'), randomBytes(32)];
  const publicKeys = [rsa, ec].map(({ publicKey }) => loadVerificationKey(pem(publicKey), 'key'));
  const jwtKeys = [...publicKeys, loadSecret(secret, 'secret')];
  const SIGNERS = { RS256: rsa.privateKey, PS256: rsa.privateKey, ES256: ec.privateKey, HS256: secret } as const;

  it.each(Object.entries(SIGNERS))('%s is taken', async (alg, key) => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const headers = { Authorization: `Bearer ${forge(alg, key)}` };
    for (const way of ['header', 'query', 'path'] as const) {
      expect((await go(running, way, KEY, headers)).status).toBe(200);
      expect((await go(running, way, 'wrong', headers)).status).toBe(401);
    }
    expect((await running.get(target, headers)).status).toBe(401);
  });

  it.each<[string, string, RegExp]>([
    ['expired', forge('ES256', ec.privateKey, { payload: { ...CLAIMS, nbf: NOW - 60, exp: NOW } }), /exp/],
    ['of another key', forge('RS256', rsaPair('other').privateKey), /signature/],
    ['that is none', 'nonsense', /./],
  ])('a token %s is refused', async (_, token, why) => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const reply = await go(running, 'header', KEY, { Authorization: `bearer ${token}` });
    expect(json(reply)).toMatchObject({ status: 401, detail: expect.stringMatching(why) });
  });
});
