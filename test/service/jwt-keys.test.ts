import { createSecretKey, type JsonWebKey, type KeyObject, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { ALGORITHM, ALGORITHMS, type Algorithm } from '../../src/jwt/algorithms.ts';
import { keyFault, requireFit } from '../../src/jwt/key-fit.ts';
import { loadSecret } from '../../src/jwt/keys.ts';
import { mintToken } from '../../src/jwt/sign.ts';
import { verifyToken } from '../../src/jwt/verify.ts';
import { ecPair, keyPair, rsaPair } from '../key-pairs.ts';
import { proving } from '../proving.ts';
import { CLAIMS, jwk, loadSigningKey, loadVerificationKey, NOW, part, pem } from './jwt-forge.ts';

const [rsa, otherRsa, weak, pss] = [rsaPair('rsa'), rsaPair('other'), rsaPair('weak'), rsaPair('pss')];
const [p256, otherEc] = [ecPair('P-256'), ecPair('P-256')];
const curves: Record<string, typeof p256> = { 'P-256': p256, 'P-384': ecPair('P-384'), 'P-521': ecPair('P-521') };
const secret = randomBytes(64);
const [ownRsa, ownEc] = [rsa, p256].map(({ privateKey }) => privateKey.export({ format: 'jwk' }));
const publicRsa = rsa.publicKey.export({ format: 'jwk' });
const json = (value: object) => Buffer.from(JSON.stringify(value));
const [head, foot] = ['-----BEGIN PRIVATE KEY-----\n', '-----END PRIVATE KEY-----\n'];

/** Mints a token with one form of a key and verifies it with another form. */
async function roundTrip(algorithm: Algorithm, signing: Buffer, verifying: Buffer, passphrase?: string) {
  const key = loadSigningKey(signing, 'key', passphrase);
  expect(requireFit(key, 'sign', algorithm)).toBe(algorithm);
  const token = await mintToken({ key, algorithm, issuedAt: NOW, lifetime: 60, sub: 'alice' });
  return verifyToken(token, [loadVerificationKey(verifying, 'key', passphrase)], { atSeconds: NOW });
}

describe('minting and verifying works for', () => {
  test.each(ALGORITHMS.filter(({ family }) => family !== 'HS'))('$name with PEM and JWK', async (algorithm) => {
    const { privateKey, publicKey } = curves[algorithm.curve ?? ''] ?? rsa;
    const sound = { valid: true, claims: { sub: 'alice' } };
    expect(await roundTrip(algorithm, pem(privateKey), pem(publicKey))).toMatchObject(sound);
    const about = { alg: algorithm.name, use: 'sig', kid: 'k' };
    const withJwk = await roundTrip(algorithm, jwk(privateKey, about), jwk(publicKey, about));
    expect(withJwk).toMatchObject({ ...sound, header: { kid: 'k' } });
  });

  test.each(ALGORITHMS.filter(({ family }) => family === 'HS'))('$name with a secret and a JWK', async (algorithm) => {
    const token = await mintToken({ key: loadSecret(secret, 'secret'), algorithm, issuedAt: NOW, lifetime: 60 });
    const asJwk = jwk(createSecretKey(secret));
    const verdict = await verifyToken(token, [loadVerificationKey(asJwk, 'jwk')], { atSeconds: NOW });
    expect([verdict, await roundTrip(algorithm, asJwk, asJwk)]).toMatchObject([{ valid: true }, { valid: true }]);
  });

  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  const pkcs1 = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs1' });
  const sec1 = p256.privateKey.export({ format: 'pem', type: 'sec1' });
  const windows = (key: KeyObject) => pem(key).toString().replaceAll('\n', '\r\n');
  test.each<[string, string, string | Buffer, string | Buffer]>([
    ['PKCS#1', 'RS256', pkcs1(rsa.privateKey), pkcs1(rsa.publicKey)],
    ['SEC1', 'ES256', sec1, pem(p256.publicKey)],
    ['SEC1 after its parameters', 'ES256', parameters + sec1, pem(p256.publicKey)],
    ['Windows line breaks', 'RS256', windows(rsa.privateKey), windows(rsa.publicKey)],
    ['text around it', 'RS256', `Bag Attributes\n  friendlyName: x\n${pem(rsa.privateKey)}\nbye\n`, pem(rsa.publicKey)],
    ['the private key on both sides', 'RS256', pem(rsa.privateKey), pem(rsa.privateKey)],
    ['RSA-PSS', 'PS256', pem(pss.privateKey), pem(pss.publicKey)],
  ])('a key in the form: %s', async (_, name, signing, verifying) => {
    const algorithm = ALGORITHM.parse(name) as Algorithm;
    expect(await roundTrip(algorithm, Buffer.from(signing), Buffer.from(verifying))).toMatchObject({ valid: true });
  });

  const encrypted = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open sesame' } as const;
  test.each([
    ['PKCS#8', rsa.privateKey.export({ ...encrypted, type: 'pkcs8' })],
    ['PKCS#1', rsa.privateKey.export({ ...encrypted, type: 'pkcs1' })],
    ['SEC1', p256.privateKey.export({ ...encrypted, type: 'sec1' })],
  ])('an encrypted %s key, with the right passphrase only', async (_, text) => {
    const key = Buffer.from(text);
    const algorithm = requireFit(loadSigningKey(key, 'key', 'open sesame'), 'sign');
    expect(await roundTrip(algorithm, key, key, 'open sesame')).toMatchObject({ valid: true });
    const refused = {
      message: 'key: the key is encrypted',
      hint: 'name the file of its passphrase with --passphrase-file',
    };
    expect(() => loadSigningKey(key, 'key')).toThrow(expect.objectContaining(refused));
    for (const wrong of ['wrong', '']) expect(() => loadSigningKey(key, 'key', wrong)).toThrow('passphrase is wrong');
  });

  test.each([
    ['RSA', pem(rsa.privateKey), 'RS256'],
    ...Object.entries(curves).map(
      ([curve, pair], at) => [curve, pem(pair.privateKey), `ES${[256, 384, 512][at]}`] as const,
    ),
    ['RSA-PSS', pem(pss.privateKey), 'PS256'],
    ['a JWK with alg', jwk(rsa.privateKey, { alg: 'PS512' }), 'PS512'],
    ['an oct JWK', jwk(createSecretKey(secret)), 'HS256'],
  ] as const)('the default algorithm of %s', (_, bytes, name) => {
    expect(requireFit(loadSigningKey(bytes, 'key'), 'sign').name).toBe(name);
  });
});

describe('loading refuses', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  const unsound = /does not contain a valid key/;
  // These keys are put together from two keys.
  const mixed = /the key's parts don't belong together/;
  const [foreignEc, foreignRsa] = [otherEc, otherRsa].map(({ privateKey }) => privateKey.export({ format: 'jwk' }));
  const sec1 = p256.privateKey.export({ format: 'der', type: 'sec1' });
  // A SEC1 key ends with its public point (RFC 5915, section 3).
  otherEc.privateKey.export({ format: 'der', type: 'sec1' }).copy(sec1, sec1.length - 65, sec1.length - 65);
  // The number of this key is a byte longer than its curve allows. Node crashes when it reads the details of such a
  // key.
  const longer = Buffer.concat([Buffer.of(0x30, sec1.length - 1, 2, 1, 1, 4, 33, 1), sec1.subarray(7)]);
  const armoured = (bytes: Buffer) =>
    `-----BEGIN EC PRIVATE KEY-----\n${bytes.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END EC PRIVATE KEY-----\n`;
  test.each<[name: string, content: string | Buffer, reason: RegExp]>([
    ['an empty file', '', /it is empty/],
    ['garbage', 'hello', /it is neither a PEM key nor a JWK$/],
    ['a certificate', certificate, unsound],
    ['a truncated key', pem(rsa.privateKey).subarray(0, 900), unsound],
    ['a key with garbage inside', `${head}AAAA\n${foot}`, unsound],
    ['a public key', pem(rsa.publicKey), /a public key, which can only verify/],
    ['a public JWK', jwk(rsa.publicKey), /a public key, which can only verify/],
    ['broken JSON', '{"kty":"RSA",', /the JWK is not JSON/],
    ['a JWK with a member twice', '{"kty":"oct","k":"AAAA","k":"BBBB"}', /"k" twice/],
    ['a JWK of an unknown type', '{"kty":"XYZ"}', /not what its kty wants/],
    ['an RSA JWK without its primes', json({ ...ownRsa, p: undefined }), /a member is missing/],
    ['an oct JWK without its secret', '{"kty":"oct"}', /at least 32 bytes, and this has 0/],
    ['a JWK with use of another type', jwk(rsa.privateKey, { use: 1 }), /use is not a string/],
    ['a JWK with key_ops of another type', jwk(rsa.privateKey, { key_ops: 'sign' }), /key_ops is not a list/],
    ['a JWK with kid of another type', jwk(rsa.privateKey, { kid: 7 }), /kid is not a string/],
    ['RSA of 1024 bits', pem(weak.privateKey), /1024 bits, and fewer than 2048/],
    ['Ed25519', pem(keyPair('ed25519').privateKey), /ed25519 \(EdDSA\), which the service does not accept/],
    ['X25519', pem(keyPair('x25519').privateKey), /x25519, which the service does not accept/],
    ['an OKP JWK', jwk(keyPair('ed25519').privateKey), /EdDSA/],
    ['secp256k1', pem(ecPair('secp256k1').privateKey), /EC key on secp256k1, which is not for ES256/],
    ['an oct JWK of 31 bytes', jwk(createSecretKey(secret.subarray(0, 31))), /at least 32 bytes, and this has 31/],
    ['a JWK for another algorithm', jwk(rsa.privateKey, { alg: 'RSA-OAEP' }), /for "RSA-OAEP" only/],
    ['a JWK with the d of another key', json({ ...ownEc, d: foreignEc?.d }), mixed],
    ['a JWK with a truncated d', json({ ...ownEc, d: ownEc?.d?.slice(0, 28) }), mixed],
    ['a JWK with a d beyond its curve', json({ ...ownEc, d: `_${ownEc?.d}` }), mixed],
    ['a JWK with the n of another key', json({ ...ownRsa, n: foreignRsa?.n }), mixed],
    ['a SEC1 key with the public point of another key', armoured(sec1), mixed],
    ['a SEC1 key with a number beyond its curve', armoured(longer), mixed],
    ['a JWK that may only verify', jwk(rsa.privateKey, { key_ops: ['verify'] }), /may not be used to sign/],
  ])('%s as a signing key', async (_, content, reason) => {
    const bytes = Buffer.from(content as string);
    await expectRefused(() => requireFit(loadSigningKey(bytes, 'key file k'), 'sign'), bytes, reason);
  });

  const known = /public part could sign/;
  const spki = rsa.publicKey.export({ format: 'der', type: 'spki' });
  test.each<[string, string | Buffer, RegExp]>([
    ['PEM text', pem(rsa.publicKey), known],
    ['PEM text with more around it', `x\n${pem(rsa.publicKey)}`, known],
    ['a private key', pem(rsa.privateKey), known],
    ['a JWK', jwk(rsa.publicKey), known],
    ['a DER key', spki, known],
    ['the base64 of a DER key in lines', spki.toString('base64').replace(/(.{64})/g, '$1\r\n'), known],
    ['PKCS#1', rsa.publicKey.export({ format: 'der', type: 'pkcs1' }), known],
    ['an SSH key', 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB me', known],
    ['the base64 of PEM', pem(rsa.publicKey).toString('base64'), known],
    ['a certificate', certificate, known],
    ['31 bytes', secret.subarray(0, 31), /at least 32 bytes, and this has 31/],
  ])('%s as a secret', async (_, content, reason) => {
    const bytes = Buffer.from(content as string);
    await expectRefused(() => requireFit(loadSecret(bytes, 'secret file s'), 'sign'), bytes, reason);
  });

  test('no secret of random bytes, raw or in the usual codings', () => {
    for (let round = 0; round < (proving ? 3000 : 300); round += 1) {
      const bytes = randomBytes(64 + (round % 200));
      // The worst first byte is that of every key in DER.
      if (round % 2 === 0) bytes[0] = 0x30;
      if (round % 4 === 0) bytes[1] = bytes.length - 2 < 0x80 ? bytes.length - 2 : 0x81;
      const codings = (['hex', 'base64', 'base64url'] as const).map((coding) => Buffer.from(bytes.toString(coding)));
      for (const coded of [bytes, ...codings]) expect(requireFit(loadSecret(coded, 's'), 'sign').name).toBe('HS256');
    }
  });

  test('a file over 16 KiB before it is parsed', () => {
    for (const text of ['-----BEGIN PUBLIC KEY-----\n', '-----BEGIN A-----', '{"kty":"RSA"']) {
      for (const load of [loadVerificationKey, loadSecret])
        expect(() => load(Buffer.from(text.repeat(2000)), 'key')).toThrow('key: larger than 16 KiB');
    }
  });
});

test.each<[what: string, change: JsonWebKey, reason: RegExp]>([
  ['e = 1', { e: 'AQ' }, /its public exponent of 1 anybody could sign/],
  ['e = 2', { e: 'Ag' }, /its public exponent of 2 anybody could sign/],
  ['e = 65536', { e: 'AQAA' }, /its public exponent of 65536 anybody could sign/],
  ['17000 bits', { n: `g${'A'.repeat(2832)}Q` }, /17000 bits, and more than 16384 cannot be used/],
])('an RSA key that gives no security or takes too long is refused: %s', (_, change, reason) => {
  expect(() => requireFit(loadVerificationKey(json({ ...publicRsa, ...change }), 'key'), 'verify')).toThrow(reason);
  expect(() => requireFit(loadSigningKey(json({ ...ownRsa, ...change }), 'key'), 'sign')).toThrow(FilingsError);
});

test('any JWK works as a key or is refused as a configuration error', async () => {
  const bases = [rsa, p256, ecPair('P-521')]
    .flatMap((pair) => [pair.privateKey, pair.publicKey])
    .map((key) => key.export({ format: 'jwk' }) as Record<string, unknown>);
  bases.push({ kty: 'oct', k: secret.toString('base64url') }, { kty: 'OKP', crv: 'Ed25519', x: 'AA', d: 'AA' });
  const names = 'kty crv n e d p q dp dq qi oth x y k alg use key_ops kid'.split(' ');
  const value = fc.oneof(
    fc.constantFrom(undefined, null, '', 'A', 'AA', 'AQ', 'Ag', 'AQ==', 'a+/b', 'AAAA', 5, true, [], {}, ['sign']),
    fc.constantFrom(...bases.flatMap((base) => Object.values(base))),
    fc.constantFrom('RSA', 'EC', 'OKP', 'oct', 'P-256', 'P-384', '_'.repeat(20_000)),
    fc.uint8Array({ maxLength: 70 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  );
  const changes = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...bases), changes, async (base, changed) => {
      await useKey(json({ ...base, ...Object.fromEntries(changed) })).catch((error) => {
        if (!(error instanceof FilingsError)) throw error;
        expect(error.code).toBe('config');
      });
    }),
    { numRuns: proving ? 2000 : 150 },
  );
}, 120_000);

/** Uses a key in every possible way. */
async function useKey(bytes: Buffer): Promise<void> {
  const verifying = loadVerificationKey(bytes, 'key');
  for (const { name } of ALGORITHMS.filter((each) => keyFault(verifying, each, 'verify') === undefined)) {
    const token = `${part({ alg: name })}.${part(CLAIMS)}.${part(Buffer.alloc(name.startsWith('ES') ? 64 : 256, 1))}`;
    expect(await verifyToken(token, [verifying], { atSeconds: NOW })).toMatchObject({ valid: false });
  }
  const signing = loadSigningKey(bytes, 'key');
  for (const algorithm of ALGORITHMS.filter((each) => keyFault(signing, each, 'sign') === undefined)) {
    const token = await mintToken({ key: signing, algorithm, issuedAt: NOW, lifetime: 60 });
    // `key_ops` may allow only one of signing and verifying.
    const valid = keyFault(verifying, algorithm, 'verify') === undefined;
    expect(await verifyToken(token, [verifying], { atSeconds: NOW })).toMatchObject({ valid });
  }
}

/** Expects an error whose message, hint and cause contain no word of the key file. */
async function expectRefused(work: () => unknown, bytes: Buffer, reason: RegExp): Promise<void> {
  const error = (await (async () => work())().catch((thrown) => thrown)) as FilingsError;
  expect(error).toMatchObject({ code: 'config', message: expect.stringMatching(/^(key file k|secret file s): /) });
  const { message, hint, cause, stack } = error;
  expect(message).toMatch(reason);
  const errorText = JSON.stringify([message, hint, String(cause), stack]);
  for (const word of bytes.toString('latin1').match(/[\w+/-]{24,}/g) ?? [])
    expect(errorText).not.toContain(word.slice(0, 24));
}
