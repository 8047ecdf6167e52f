import { createHash, createPublicKey, type JsonWebKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { ALGORITHMS } from '../../src/jwt/algorithms.ts';
import { keyFault, requireFit } from '../../src/jwt/key-fit.ts';
import { loadSecret } from '../../src/jwt/keys.ts';
import { mintToken } from '../../src/jwt/sign.ts';
import { verifyToken } from '../../src/jwt/verify.ts';
import { proving } from '../proving.ts';
import { CLAIMS, ecPair, loadSigningKey, loadVerificationKey, NOW, part, rsaPair } from './jwt-forge.ts';

const rsa = rsaPair();
const own = rsa.privateKey.export({ format: 'jwk' });
const shown = rsa.publicKey.export({ format: 'jwk' });

const number = (value: bigint) => {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
};
const json = (jwk: object) => Buffer.from(JSON.stringify(jwk));

describe('an RSA key that proves nothing', () => {
  it.each<[what: string, change: JsonWebKey, reason: RegExp]>([
    ['e = 1', { e: number(1n) }, /its public exponent is 1, with which anybody could sign/],
    ['e = 2', { e: number(2n) }, /its public exponent is 2, with which anybody could sign/],
    ['e = 65536', { e: number(65536n) }, /its public exponent is 65536, with which/],
    ['17000 bits', { n: number(2n ** 16_999n + 1n) }, /longer than 16384 bits|n is too long/],
  ])('is refused: %s', async (_, change, reason) => {
    const jwk = { ...shown, ...change };
    const forms = [json(jwk)];
    // OpenSSL takes some of them into PEM as well.
    try {
      forms.push(Buffer.from(createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' })));
    } catch {}
    for (const form of forms) {
      expect(refusal(() => requireFit(loadVerificationKey(form, 'key'), 'verify')).message).toMatch(reason);
    }
    const signing = json({ ...own, ...change });
    expect(refusal(() => requireFit(loadSigningKey(signing, 'key'), 'sign')).message).toMatch(reason);
  });

  it('so that nobody forges with e = 1', async () => {
    const input = `${part({ alg: 'RS256' })}.${part(CLAIMS)}`;
    const identifier = Buffer.from('3031300d060960864801650304020105000420', 'hex');
    const digest = Buffer.concat([identifier, createHash('sha256').update(input).digest()]);
    // EMSA-PKCS1-v1_5 (RFC 8017 section 9.2); raised to the first power it stays what it is.
    const padding = Buffer.alloc(256 - digest.length, 0xff);
    padding.set([0, 1]);
    padding[padding.length - 1] = 0;
    const token = `${input}.${Buffer.concat([padding, digest]).toString('base64url')}`;
    const key = loadVerificationKey(json({ ...shown, e: number(1n) }), 'key');
    expect(await verifyToken(token, [key], { atSeconds: NOW })).toMatchObject({ valid: false, failedCheck: 'key' });
  });
});

it('any JWK at all is a key or refused, and never a defect', async () => {
  const bases = [rsa, ecPair('prime256v1'), ecPair('secp521r1')]
    .flatMap((pair) => [pair.privateKey, pair.publicKey])
    .map((key) => key.export({ format: 'jwk' }) as Record<string, unknown>);
  bases.push(
    { kty: 'oct', k: randomBytes(64).toString('base64url') },
    { kty: 'OKP', crv: 'Ed25519', x: 'AA', d: 'AA' },
  );
  const names = [
    'kty',
    'crv',
    'n',
    'e',
    'd',
    'p',
    'q',
    'dp',
    'dq',
    'qi',
    'oth',
    'x',
    'y',
    'k',
    'alg',
    'use',
    'key_ops',
    'kid',
  ];
  const all = bases.flatMap((base) => Object.values(base));
  const value = fc.oneof(
    fc.constantFrom(undefined, null, '', 'A', 'AA', 'AQ', 'Ag', 'AQ==', 'a+/b', 'AAAA', 5, true, [], {}, ['sign']),
    fc.constantFrom(...all),
    fc.constantFrom('RSA', 'EC', 'OKP', 'oct', 'P-256', 'P-384', '_'.repeat(20_000)),
    fc.uint8Array({ maxLength: 70 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  );
  const changes = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...bases), changes, async (base, changed) => {
      const bytes = json({ ...base, ...Object.fromEntries(changed) });
      await taken(bytes).catch((error) => {
        if (!(error instanceof FilingsError)) throw error;
        expect(error.code).toBe('config');
      });
    }),
    { numRuns: proving ? 2000 : 150 },
  );
}, 120_000);

/** Does with a key whatever can be done with it. */
async function taken(bytes: Buffer): Promise<void> {
  const verifying = loadVerificationKey(bytes, 'key');
  for (const { name } of ALGORITHMS.filter((each) => keyFault(verifying, each, 'verify') === undefined)) {
    for (const length of [32, 64, 256]) {
      const token = `${part({ alg: name })}.${part(CLAIMS)}.${Buffer.alloc(length, 1).toString('base64url')}`;
      expect(await verifyToken(token, [verifying], { atSeconds: NOW })).toMatchObject({ valid: false });
    }
  }
  const signing = loadSigningKey(bytes, 'key');
  for (const algorithm of ALGORITHMS.filter((each) => keyFault(signing, each, 'sign') === undefined)) {
    const token = await mintToken({ key: signing, algorithm, issuedAt: NOW, lifetime: 60 });
    // `key_ops` may allow the one and not the other.
    const valid = keyFault(verifying, algorithm, 'verify') === undefined;
    expect(await verifyToken(token, [verifying], { atSeconds: NOW })).toMatchObject({ valid });
  }
}

it.each<[string, (text: string) => unknown]>([
  ['key', (text) => loadVerificationKey(Buffer.from(text), 'key')],
  ['secret', (text) => loadSecret(Buffer.from(text), 'key')],
])('a %s of more than 16 KiB is refused before it is looked at', (_, load) => {
  for (const text of [
    '-----BEGIN PUBLIC KEY-----\n',
    '-----BEGIN A-----',
    JSON.stringify({ ...shown, n: '_'.repeat(20_000) }),
  ]) {
    expect(refusal(() => load(text.repeat(1000))).message).toBe('key: larger than 16 KiB, which no key or secret is');
  }
});

function refusal(work: () => unknown): FilingsError {
  try {
    work();
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
  throw new Error('it was taken');
}
