import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { ALGORITHMS, type Algorithm } from '../../src/jwt/algorithms.ts';
import { chooseAlgorithm, findKeyFault } from '../../src/jwt/key-fit.ts';
import { loadKey, loadSecret, readJwtKey, restrictTo } from '../../src/jwt/keys.ts';
import { mintToken } from '../../src/jwt/sign.ts';
import { ecPair, keyPair, rsaPair } from '../key-pairs.ts';
import { proving } from '../proving.ts';
import { OWNER, temporaryFolder, worldOf } from '../settings-world.ts';
import { CLAIMS, jwk, loadSigningKey, loadVerificationKey, NOW, part, pem, verifyToken } from './jwt-forge.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const [rsa, otherRsa, weak, pss] = [rsaPair('rsa'), rsaPair('other'), rsaPair('weak'), rsaPair('pss')];
const [p256, otherEc] = [ecPair('P-256'), ecPair('P-256')];
const [p384, p521] = [ecPair('P-384'), ecPair('P-521')];
const curves: Record<string, typeof p256> = { 'P-256': p256, 'P-384': p384, 'P-521': p521 };
const secret = randomBytes(64);
const [ownRsa, ownEc] = [rsa, p256].map(({ privateKey }) => privateKey.export({ format: 'jwk' }));
const publicRsa = rsa.publicKey.export({ format: 'jwk' });
/** A salt length whose bytes in DER look like the beginning of a long SEQUENCE. */
const SEQUENCE = 0x3082;
const json = (value: object) => Buffer.from(JSON.stringify(value));

/** Mints a token with one form of a key, by default with its own algorithm, and verifies it with another form. */
async function roundTrip(signing: Buffer, verifying: Buffer, wanted?: Algorithm, passphrase?: string) {
  const key = loadSigningKey(signing, 'key', passphrase);
  const token = await mintToken(key, { alg: wanted, issuedAt: NOW, lifetime: 60, sub: 'alice' });
  return verifyToken(token, [loadVerificationKey(verifying, 'key', passphrase)], { atSeconds: NOW });
}

describe('minting and verifying works for', () => {
  test.each(ALGORITHMS.filter(({ family }) => family !== 'HS'))('$name with PEM and JWK', async (algorithm) => {
    const { privateKey, publicKey } = curves[algorithm.curve ?? ''] ?? rsa;
    const sound = { valid: true, header: { alg: algorithm.name } };
    expect(await roundTrip(pem(privateKey), pem(publicKey), algorithm)).toMatchObject(sound);
    const about = { alg: algorithm.name, use: 'sig', kid: 'k' };
    const withJwk = await roundTrip(jwk(privateKey, about), jwk(publicKey, about), algorithm);
    expect(withJwk).toMatchObject({ ...sound, header: { kid: 'k' } });
  });

  test.each(ALGORITHMS.filter(({ family }) => family === 'HS'))('$name with a secret and a JWK', async (algorithm) => {
    const key = loadSecret(secret, 'secret');
    const token = await mintToken(key, { alg: algorithm, issuedAt: NOW, lifetime: 60 });
    const asJwk = jwk(createSecretKey(secret));
    const verdict = await verifyToken(token, [loadVerificationKey(asJwk, 'jwk')], { atSeconds: NOW });
    expect([verdict, await roundTrip(asJwk, asJwk, algorithm)]).toMatchObject([{ valid: true }, { valid: true }]);
  });

  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  const pkcs1 = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs1' });
  const sec1 = p256.privateKey.export({ format: 'pem', type: 'sec1' });
  const windows = (key: KeyObject) => pem(key).toString().replaceAll('\n', '\r\n');
  test.each`
    form                           | alg        | signing                                            | verifying
    ${'PKCS#1'}                    | ${'RS256'} | ${pkcs1(rsa.privateKey)}                           | ${pkcs1(rsa.publicKey)}
    ${'SEC1'}                      | ${'ES256'} | ${sec1}                                            | ${pem(p256.publicKey)}
    ${'SEC1 after its parameters'} | ${'ES256'} | ${parameters + sec1}                               | ${pem(p256.publicKey)}
    ${'Windows line breaks'}       | ${'RS256'} | ${windows(rsa.privateKey)}                         | ${windows(rsa.publicKey)}
    ${'text around it'}            | ${'RS256'} | ${`Bag Attributes\n${pem(rsa.privateKey)}\nbye\n`} | ${pem(rsa.publicKey)}
    ${'RSA-PSS'}                   | ${'PS256'} | ${pem(pss.privateKey)}                             | ${pem(pss.publicKey)}
    ${'a key on P-384'}            | ${'ES384'} | ${pem(p384.privateKey)}                            | ${pem(p384.publicKey)}
    ${'a JWK with alg'}            | ${'PS512'} | ${jwk(rsa.privateKey, { alg: 'PS512' })}           | ${jwk(rsa.publicKey)}
    ${'an oct JWK'}                | ${'HS256'} | ${jwk(createSecretKey(secret))}                    | ${jwk(createSecretKey(secret))}
  `('$alg by default with a key in the form: $form', async ({ alg, signing, verifying }: Record<string, string>) => {
    const [own, others] = [Buffer.from(signing ?? ''), Buffer.from(verifying ?? '')];
    expect(await roundTrip(own, others)).toMatchObject({ valid: true, header: { alg } });
  });

  const encrypted = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open sesame' } as const;
  test.each`
    form        | text
    ${'PKCS#8'} | ${rsa.privateKey.export({ ...encrypted, type: 'pkcs8' })}
    ${'PKCS#1'} | ${rsa.privateKey.export({ ...encrypted, type: 'pkcs1' })}
    ${'SEC1'}   | ${p256.privateKey.export({ ...encrypted, type: 'sec1' })}
  `('an encrypted key in the form $form, with the right passphrase only', async ({ text }: { text: string }) => {
    const key = Buffer.from(text);
    expect(await roundTrip(key, key, undefined, 'open sesame')).toMatchObject({ valid: true });
    expect(() => loadSigningKey(key, 'key')).toThrow('the key is encrypted');
    for (const wrong of ['wrong', '']) expect(() => loadSigningKey(key, 'key', wrong)).toThrow('passphrase is wrong');
  });
});

test('the passphrase of a key is registered for redaction, without the line break of its file', async () => {
  const directory = await temporaryDirectory();
  const [keyFile, passphraseFile] = [join(directory, 'key'), join(directory, 'passphrase')];
  const encrypted = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'open sesame' } as const;
  await writeFile(keyFile, p256.privateKey.export(encrypted), { mode: 0o600 });
  await writeFile(passphraseFile, 'open sesame\n', { mode: 0o600 });
  const world = worldOf();
  await readJwtKey({ kind: 'key', path: keyFile }, 'sign', world, expect.fail, passphraseFile);
  expect(world.secrets.redact('it is open sesame.')).toBe('it is [redacted].');
});

test.each`
  what              | content                         | isRefused
  ${'an oct JWK'}   | ${jwk(createSecretKey(secret))} | ${true}
  ${'a JWK'}        | ${jwk(p256.privateKey)}         | ${true}
  ${'a PEM key'}    | ${pem(p256.privateKey)}         | ${true}
  ${'a public key'} | ${pem(p256.publicKey)}          | ${false}
`('a key file that others can read is refused if it holds a secret: $what', async ({ content, isRefused }) => {
  const folder = await temporaryFolder();
  const source = { kind: 'key', path: await folder.ownFile('key', content, 0o644) } as const;
  const refusal = await readJwtKey(source, 'verify', worldOf({ uid: OWNER }), expect.fail).catch(
    (error) => error.reason,
  );
  await folder.remove();
  expect(refusal === 'other users can read it').toBe(isRefused);
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
  test.each`
    what                                           | content                                         | reason
    ${'an empty file'}                             | ${''}                                           | ${/it is empty/}
    ${'garbage'}                                   | ${'hello'}                                      | ${/it is neither a PEM key nor a JWK$/}
    ${'a certificate'}                             | ${certificate}                                  | ${unsound}
    ${'a truncated key'}                           | ${pem(rsa.privateKey).subarray(0, 900)}         | ${unsound}
    ${'a public key'}                              | ${pem(rsa.publicKey)}                           | ${/a public key, which can only verify/}
    ${'broken JSON'}                               | ${'{"kty":"RSA",'}                              | ${/the JWK is not JSON/}
    ${'a JWK with a member twice'}                 | ${'{"kty":"oct","k":"AAAA","k":"BBBB"}'}        | ${/"k" twice/}
    ${'a JWK of an unknown type'}                  | ${'{"kty":"XYZ"}'}                              | ${/not valid for its kty/}
    ${'an RSA JWK without its primes'}             | ${json({ ...ownRsa, p: undefined })}            | ${/a member is missing/}
    ${'a JWK with use of another type'}            | ${jwk(rsa.privateKey, { use: 1 })}              | ${/use is not a string/}
    ${'a JWK with key_ops of another type'}        | ${jwk(rsa.privateKey, { key_ops: 'sign' })}     | ${/key_ops is not a list/}
    ${'a JWK with kid of another type'}            | ${jwk(rsa.privateKey, { kid: 7 })}              | ${/kid is not a string/}
    ${'RSA of 1024 bits'}                          | ${pem(weak.privateKey)}                         | ${/1024 bits, and fewer than 2048/}
    ${'Ed25519'}                                   | ${pem(keyPair('ed25519').privateKey)}           | ${/ed25519 \(EdDSA\), which the service does not/}
    ${'an OKP JWK'}                                | ${jwk(keyPair('ed25519').privateKey)}           | ${/EdDSA/}
    ${'secp256k1'}                                 | ${pem(ecPair('secp256k1').privateKey)}          | ${/EC key on secp256k1, which cannot be used with ES256/}
    ${'an oct JWK of 31 bytes'}                    | ${jwk(createSecretKey(secret.subarray(0, 31)))} | ${/at least 32 bytes, and this one has 31/}
    ${'a JWK for another algorithm'}               | ${jwk(rsa.privateKey, { alg: 'RSA-OAEP' })}     | ${/for "RSA-OAEP" only/}
    ${'a JWK with the d of another key'}           | ${json({ ...ownEc, d: foreignEc?.d })}          | ${mixed}
    ${'a JWK with a d beyond its curve'}           | ${json({ ...ownEc, d: `_${ownEc?.d}` })}        | ${mixed}
    ${'a JWK with the n of another key'}           | ${json({ ...ownRsa, n: foreignRsa?.n })}        | ${mixed}
    ${'SEC1 with the public point of another key'} | ${armoured(sec1)}                               | ${mixed}
    ${'SEC1 with a number beyond its curve'}       | ${armoured(longer)}                             | ${mixed}
    ${'a JWK that may only verify'}                | ${jwk(rsa.privateKey, { key_ops: ['verify'] })} | ${/may not be used to sign/}
  `('as a signing key: $what', async ({ content, reason }: { content: string; reason: RegExp }) => {
    await expectRefused(Buffer.from(content), reason, (bytes) => chooseAlgorithm(loadSigningKey(bytes, 'k'), 'sign'));
  });

  // Keys that must be converted are in jwt-key-forms.test.ts.
  test('a usable key or a certificate as a secret', async () => {
    const useAsSecret = (bytes: Buffer) => chooseAlgorithm(loadSecret(bytes, 's'), 'sign');
    for (const key of [`${pem(rsa.publicKey)}`, `x\n${pem(rsa.publicKey)}`, `${jwk(rsa.publicKey)}`, certificate])
      await expectRefused(Buffer.from(key), /not an HMAC secret/, useAsSecret);
  });

  test('no secret of random bytes, raw or in the usual codings', () => {
    for (let round = 0; round < (proving ? 3000 : 100); round += 1) {
      const bytes = randomBytes(64 + (round % 200));
      // The worst first byte is that of every key in DER.
      if (round % 2 === 0) bytes[0] = 0x30;
      if (round % 4 === 0) bytes[1] = bytes.length - 2 < 0x80 ? bytes.length - 2 : 0x81;
      // The beginnings of JWKs in a list and in quotes.
      if (round % 4 === 1) bytes.write(['[{', '"{', "'{"][round % 3] ?? '');
      const codings = (['hex', 'base64', 'base64url'] as const).map((coding) => Buffer.from(bytes.toString(coding)));
      for (const coded of [bytes, ...codings])
        expect(chooseAlgorithm(loadSecret(coded, 's'), 'sign').name).toBe('HS256');
    }
  });

  test('a file over 16 KiB before it is parsed', () => {
    const bytes = Buffer.from('-----BEGIN PUBLIC KEY-----\n'.repeat(2000));
    for (const load of [loadVerificationKey, loadSecret])
      expect(() => load(bytes, 'key')).toThrow('key: larger than 16 KiB');
  });
});

test.each`
  fault                 | n                          | e         | reason
  ${'an exponent of 1'} | ${publicRsa.n}             | ${'AQ'}   | ${/public exponent of 1 anybody could sign/}
  ${'an exponent of 2'} | ${publicRsa.n}             | ${'Ag'}   | ${/public exponent of 2 anybody could sign/}
  ${'an even exponent'} | ${publicRsa.n}             | ${'AQAA'} | ${/public exponent of 65536 anybody could sign/}
  ${'17000 bits'}       | ${`g${'A'.repeat(2832)}Q`} | ${'AQAB'} | ${/17000 bits, and more than 16384 bits are not supported/}
`('an RSA key is refused with $fault', ({ n, e, reason }: { n: string; e: string; reason: RegExp }) => {
  expect(() => chooseAlgorithm(loadVerificationKey(json({ kty: 'RSA', n, e }), 'key'), 'verify')).toThrow(reason);
  expect(() => chooseAlgorithm(loadSigningKey(json({ ...ownRsa, n, e }), 'key'), 'sign')).toThrow(FilingsError);
});

test.each`
  bits    | options                                              | reason
  ${512}  | ${{}}                                                | ${/RSA-PSS key of 512 bits, and fewer than 2048/}
  ${1536} | ${{ hashAlgorithm: 'sha256', saltLength: 32 }}       | ${/RSA-PSS key of 1536 bits, and fewer than 2048/}
  ${1031} | ${{ hashAlgorithm: 'sha1', saltLength: 0 }}          | ${/RSA-PSS key of 1031 bits, and fewer than 2048/}
  ${2048} | ${{ hashAlgorithm: 'sha256', saltLength: SEQUENCE }} | ${/restricted to sha256, MGF1 with sha256 and a salt of 12418 bytes or more/}
`('an RSA-PSS key of $bits bits with $options is refused', ({ bits, options, reason }) => {
  const { privateKey, publicKey } = keyPair('rsa-pss', { modulusLength: bits, ...options });
  expect(() => chooseAlgorithm(loadVerificationKey(pem(publicKey), 'key'), 'verify')).toThrow(reason);
  for (const purpose of ['sign', 'verify'] as const)
    expect(() => chooseAlgorithm(restrictTo(purpose, loadKey(pem(privateKey), 'key')), purpose)).toThrow(reason);
});

test('an SM2 key, whose type Node does not name, is not mistaken for a secret', () => {
  const { privateKey, publicKey } = ecPair('SM2');
  const reason = /a key of type unknown, which the service does not accept/;
  expect(() => chooseAlgorithm(loadVerificationKey(pem(publicKey), 'key'), 'verify')).toThrow(reason);
  expect(() => chooseAlgorithm(loadSigningKey(pem(privateKey), 'key'), 'sign')).toThrow(reason);
});

test('any JWK works as a key or is refused as a configuration error', async () => {
  const bases = [rsa, p256, p521]
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
    { seed: 7518, numRuns: proving ? 2000 : 100 },
  );
}, 120_000);

/** Uses a key in every possible way. */
async function useKey(bytes: Buffer): Promise<void> {
  const verifying = loadVerificationKey(bytes, 'key');
  for (const { name } of ALGORITHMS.filter((each) => findKeyFault(verifying, each, 'verify') === undefined)) {
    const token = `${part({ alg: name })}.${part(CLAIMS)}.${part(Buffer.alloc(name.startsWith('ES') ? 64 : 256, 1))}`;
    expect(await verifyToken(token, [verifying], { atSeconds: NOW })).toMatchObject({ valid: false });
  }
  const signing = loadSigningKey(bytes, 'key');
  for (const algorithm of ALGORITHMS.filter((each) => findKeyFault(signing, each, 'sign') === undefined)) {
    const token = await mintToken(signing, { alg: algorithm, issuedAt: NOW, lifetime: 60 });
    // `key_ops` may allow only one of signing and verifying.
    const valid = findKeyFault(verifying, algorithm, 'verify') === undefined;
    expect(await verifyToken(token, [verifying], { atSeconds: NOW })).toMatchObject({ valid });
  }
}

/** Expects that the use of a key is refused with an error that contains no word of it. */
async function expectRefused(bytes: Buffer, reason: RegExp, use: (bytes: Buffer) => unknown): Promise<void> {
  const error = (await (async () => use(bytes))().catch((thrown) => thrown)) as FilingsError;
  expect(error).toMatchObject({ code: 'config', message: expect.stringMatching(reason) });
  const errorText = JSON.stringify([error.message, error.hint, String(error.cause), error.stack]);
  for (const word of bytes.toString('latin1').match(/[\w+/-]{24,}/g) ?? [])
    expect(errorText).not.toContain(word.slice(0, 24));
}
