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

function token(
  alg: keyof typeof SIGNERS,
  claims: Record<string, unknown> = {},
  signer: Parameters<SignJWT['sign']>[0] = SIGNERS[alg],
): Promise<string> {
  const payload = { iat: AT, nbf: AT, exp: AT + 60, ...claims };
  const present = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
  return new SignJWT(present).setProtectedHeader({ alg }).sign(signer);
}

const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;

/** By the way's name: a target and headers that carry the key that way. */
const WAYS = {
  authorization: (key: string) => [download('a.txt'), { Authorization: key }],
  header: (key: string) => [download('a.txt'), { 'x-service-KEY': key }],
  query: (key: string) => [`${download('a.txt')}&apikey=${encodeURIComponent(key)}`, {}],
  path: (key: string) => [download('a.txt').replace('?', `/APIKEY-${encodeURIComponent(key)}?`), {}],
  basic: (key: string) => [download('a.txt'), { Authorization: basic('service', key) }],
} satisfies Record<string, (key: string) => readonly [target: string, headers: Record<string, string>]>;
type Way = keyof typeof WAYS;
const ALL = Object.keys(WAYS) as Way[];

function go(running: Running, way: Way, key: string, more: Record<string, string> = {}) {
  const [target, headers] = WAYS[way](key);
  return running.get(target, { ...headers, ...more });
}

describe('the key alone', () => {
  it.each(ALL)('%s: the right key comes in, a wrong one does not', async (way) => {
    const running = await sandbox(FILES, { now });
    const reply = await go(running, way, KEY);
    expect([reply.status, reply.body.toString()]).toEqual([200, 'alpha']);
    for (const wrong of [`${KEY}x`, KEY.slice(1), 'k y']) {
      const refused = await go(running, way, wrong);
      expect(refused.headers['content-type']).toBe('application/problem+json');
      expect(refused.headers['www-authenticate']).toMatch(/^Basic realm="/);
      expect(json(refused)).toMatchObject({ status: 401, detail: 'the API key is not valid' });
    }
  });

  const plain = 'secret-1';
  const target = download('a.txt');
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
    const running = await sandbox(FILES, { apiKey: plain });
    expect((await running.get(asked, headers)).status).toBe(status);
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

  it.each<[string, () => Promise<string>, RegExp | undefined]>([
    ['valid from now', () => token('ES256', { nbf: AT }), undefined],
    ['expired', () => token('ES256', { exp: AT }), /exp/],
    ['without nbf', () => token('ES256', { nbf: undefined }), /nbf/],
    ['of another key', () => token('RS256', {}, rsaPair('other').privateKey), /signature/],
    ['that is none', async () => 'nonsense', /./],
  ])('a token %s', async (_, made, why) => {
    const running = await sandbox(FILES, { now, jwtKeys });
    const reply = await go(running, 'header', KEY, { Authorization: `bearer ${await made()}` });
    expect(reply.status).toBe(why ? 401 : 200);
    if (why) expect(json(reply).detail).toMatch(why);
  });
});
