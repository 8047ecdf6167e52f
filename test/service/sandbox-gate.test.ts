import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { loadSecret } from '../../src/jwt/keys.ts';
import { ecPair, rsaPair } from '../key-pairs.ts';
import { loadVerificationKey } from './jwt-forge.ts';
import { download, json, KEY, type Running, sandbox } from './sandbox-fixture.ts';

const FILES = { '0001234567-24-000001/a.txt': 'alpha' };
const AT = 1_700_000_000;
const now = () => AT * 1000;

const rsa = rsaPair('rsa');
const ec = ecPair('P-256');
const secret = randomBytes(32);
const pem = (key: { export(o: { type: 'spki'; format: 'pem' }): string | Buffer }) =>
  Buffer.from(key.export({ type: 'spki', format: 'pem' }));
const jwtKeys = [
  loadVerificationKey(pem(rsa.publicKey), 'rsa'),
  loadVerificationKey(pem(ec.publicKey), 'ec'),
  loadSecret(secret, 'secret'),
];
const SIGNERS = { RS256: rsa.privateKey, PS256: rsa.privateKey, ES256: ec.privateKey, HS256: secret } as const;

function token(alg: keyof typeof SIGNERS, claims: Record<string, unknown> = {}): Promise<string> {
  const payload = { iat: AT, nbf: AT, exp: AT + 60, ...claims };
  const present = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
  return new SignJWT(present).setProtectedHeader({ alg }).sign(SIGNERS[alg]);
}

const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;

/** By the way's name: a target and headers that carry the key that way. */
const WAYS = {
  authorization: (key: string) => ({ target: download('a.txt'), headers: { Authorization: key } }),
  header: (key: string) => ({ target: download('a.txt'), headers: { 'x-service-KEY': key } }),
  query: (key: string) => ({ target: `${download('a.txt')}&apikey=${encodeURIComponent(key)}`, headers: {} }),
  path: (key: string) => ({
    target: download('a.txt').replace('?', `/APIKEY-${encodeURIComponent(key)}?`),
    headers: {},
  }),
  basic: (key: string) => ({ target: download('a.txt'), headers: { Authorization: basic('service', key) } }),
} as const;
type Way = keyof typeof WAYS;
const ALL = Object.keys(WAYS) as Way[];

function go(running: Running, way: Way, key: string, more: Record<string, string> = {}) {
  const { target, headers } = WAYS[way](key);
  return running.get(target, { ...headers, ...more });
}

describe('the key alone', () => {
  it.each(ALL)('%s: the right key comes in, a wrong one does not', async (way) => {
    const running = await sandbox(FILES, { now });
    const reply = await go(running, way, KEY);
    expect([reply.status, reply.body.toString()]).toEqual([200, 'alpha']);
    for (const wrong of [`${KEY}x`, KEY.slice(1), 'k y']) {
      const refused = await go(running, way, wrong);
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toMatch(/^Basic realm="/);
      expect(refused.headers['content-type']).toBe('application/problem+json');
      expect(json(refused)).toMatchObject({ status: 401, detail: 'the API key is not valid' });
      expect(json(refused)).not.toHaveProperty('errors');
    }
  });

  const plain = 'secret-1';
  it.each<[string, string, Record<string, string | string[]>, number]>([
    ['no key', download('a.txt'), {}, 401],
    ['an empty segment', download('a.txt').replace('?', '/APIKEY-?'), {}, 401],
    ['another user', download('a.txt'), { Authorization: basic('admin', plain) }, 401],
    ['Basic without a colon', download('a.txt'), { Authorization: `Basic ${btoa(plain)}` }, 401],
    ['basic as a scheme', download('a.txt'), { Authorization: basic('service', plain).replace('B', 'b') }, 200],
    ['Bearer with the key', download('a.txt'), { Authorization: `Bearer ${plain}` }, 401],
    ['two right ways', `${download('a.txt')}&apikey=${plain}`, { Authorization: plain }, 200],
    ['right and wrong', `${download('a.txt')}&apikey=wrong`, { Authorization: plain }, 401],
    ['twice in the header', download('a.txt'), { 'X-Service-Key': [plain, 'wrong'] }, 401],
    ['a segment in the middle', download('a.txt').replace('/download', `/APIKEY-${plain}/download`), {}, 401],
    ['a segment with a slash behind', download('a.txt').replace('?', `/APIKEY-${plain}/?`), {}, 200],
    ['the segment alone', `/APIKEY-${plain}`, {}, 404],
    ['a percent-encoded parameter name', `${download('a.txt')}&%61pikey=${plain}`, {}, 200],
    ['a token, while none is wanted', download('a.txt'), { 'X-Service-Key': plain, Authorization: 'Bearer x' }, 200],
  ])('%s', async (_, target, headers, status) => {
    const running = await sandbox(FILES, { apiKey: plain });
    expect((await running.get(target, headers)).status).toBe(status);
  });
});

describe('key and JWT', () => {
  it.each(Object.keys(SIGNERS) as (keyof typeof SIGNERS)[])('%s is taken', async (alg) => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const headers = { Authorization: `Bearer ${await token(alg)}` };
    for (const way of ['header', 'query', 'path'] as const) {
      expect((await go(running, way, KEY, headers)).status).toBe(200);
      expect((await go(running, way, 'wrong', headers)).status).toBe(401);
    }
    expect((await running.get(download('a.txt'), headers)).status).toBe(401);
  });

  it.each(ALL)('%s: the key is not enough', async (way) => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const reply = await go(running, way, KEY);
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toMatch(/^Bearer realm="/);
    expect(json(reply).detail).toMatch(/JWT/);
  });

  it('does not take the key beside the token in a second Authorization', async () => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const bearer = `Bearer ${await token('RS256')}`;
    const reply = await running.get(download('a.txt'), { Authorization: [KEY, bearer] });
    expect(reply.status).toBe(401);
    const twice = { 'X-Service-Key': KEY, Authorization: [bearer, bearer] };
    expect((await running.get(download('a.txt'), twice)).status).toBe(401);
  });

  it.each<[string, Record<string, unknown>, RegExp | undefined]>([
    ['expired', { exp: AT }, /exp/],
    ['not yet valid', { nbf: AT + 1 }, /nbf/],
    ['valid from now', { nbf: AT }, undefined],
    ['without exp', { exp: undefined }, /exp/],
    ['without nbf', { nbf: undefined }, /nbf/],
  ])('%s', async (_, claims, why) => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const reply = await go(running, 'header', KEY, { Authorization: `bearer ${await token('ES256', claims)}` });
    expect(reply.status).toBe(why ? 401 : 200);
    if (!why) return;
    expect(json(reply).detail).toMatch(why);
    expect(reply.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it("refuses another key's token, a changed one, none and nonsense", async () => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const stranger = rsaPair('other').privateKey;
    const strange = await new SignJWT({ nbf: AT, exp: AT + 60 }).setProtectedHeader({ alg: 'RS256' }).sign(stranger);
    const [header, payload] = (await token('RS256')).split('.');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    for (const bad of [strange, `${header}.${payload}.AAAA`, none, 'nonsense', '']) {
      const reply = await go(running, 'header', KEY, { Authorization: `Bearer ${bad}` });
      expect(reply.status).toBe(401);
    }
  });
});
