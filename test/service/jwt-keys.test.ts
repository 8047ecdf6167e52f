import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { ALGORITHM, ALGORITHMS, type Algorithm } from '../../src/jwt/algorithms.ts';
import { requireFit } from '../../src/jwt/key-fit.ts';
import { lineBreakWarning, loadSecret } from '../../src/jwt/keys.ts';
import { mintToken } from '../../src/jwt/sign.ts';
import { verifyToken } from '../../src/jwt/verify.ts';
import { keyPair } from '../key-pairs.ts';
import { proving } from '../proving.ts';
import { ecPair, jwk, loadSigningKey, loadVerificationKey, NOW, pem, rsaPair } from './jwt-forge.ts';

const rsa = rsaPair();
const p256 = ecPair('prime256v1');
const p384 = ecPair('secp384r1');
const p521 = ecPair('secp521r1');
const pss = keyPair('rsa-pss', { modulusLength: 2048 });
const secret = randomBytes(64);
const der = rsa.publicKey.export({ format: 'der', type: 'spki' });
const pairFor = ({ curve }: Algorithm) =>
  curve === undefined ? rsa : ({ 'P-256': p256, 'P-384': p384, 'P-521': p521 }[curve as 'P-256'] ?? rsa);

async function roundTrip(algorithm: Algorithm, signing: Buffer | KeyObject, verifying: Buffer, passphrase?: string) {
  const key = Buffer.isBuffer(signing) ? loadSigningKey(signing, 'key', passphrase) : loadSecret(secret, 'secret');
  requireFit(key, 'sign', algorithm);
  const token = await mintToken({ key, algorithm, issuedAt: NOW, lifetime: 60, sub: 'alice' });
  const judge = algorithm.family === 'HS' && signing !== verifying && !Buffer.isBuffer(signing);
  const verifier = judge ? loadSecret(verifying, 'secret') : loadVerificationKey(verifying, 'key', passphrase);
  return verifyToken(token, [verifier], { atSeconds: NOW });
}

describe('a key that was put together from two', () => {
  const other = { ec: ecPair('prime256v1'), rsa: rsaPair() };
  const own = { ec: p256.privateKey.export({ format: 'jwk' }), rsa: rsa.privateKey.export({ format: 'jwk' }) };
  const foreign = {
    ec: other.ec.privateKey.export({ format: 'jwk' }),
    rsa: other.rsa.privateKey.export({ format: 'jwk' }),
  };
  const short = Buffer.from(own.ec.d ?? '', 'base64url')
    .subarray(0, 20)
    .toString('base64url');
  const sec1 = p256.privateKey.export({ format: 'der', type: 'sec1' });
  // The public point is what a SEC1 key ends in (RFC 5915 section 3).
  other.ec.privateKey.export({ format: 'der', type: 'sec1' }).copy(sec1, sec1.length - 65, sec1.length - 65);
  const armoured = (der: Buffer) =>
    `-----BEGIN EC PRIVATE KEY-----\n${der.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END EC PRIVATE KEY-----\n`;
  // Its number is a byte longer than the curve's: Node dies of a look at such a key's details.
  const longer = Buffer.concat([Buffer.of(0x30, sec1.length - 1, 2, 1, 1, 4, 33, 1), sec1.subarray(7)]);

  it.each<[string, string]>([
    ["another key's d", JSON.stringify({ ...own.ec, d: foreign.ec.d })],
    ['a d cut short', JSON.stringify({ ...own.ec, d: short })],
    ["another key's n", JSON.stringify({ ...own.rsa, n: foreign.rsa.n })],
    ["another key's public point", armoured(sec1)],
    ['a number beyond its curve', armoured(longer)],
  ])('is refused: %s', (_, text) => {
    expect(() => loadSigningKey(Buffer.from(text), 'key')).toThrow(/key: the key's parts don't belong together/);
  });
});

describe('each algorithm, minted and verified', () => {
  const asymmetric = ALGORITHMS.filter(({ family }) => family !== 'HS');

  it.each(asymmetric)('$name with PEM', async (algorithm) => {
    const { privateKey, publicKey } = pairFor(algorithm);
    expect(await roundTrip(algorithm, pem(privateKey), pem(publicKey))).toMatchObject({
      valid: true,
      claims: { sub: 'alice' },
    });
  });

  it.each(asymmetric)('$name with JWK', async (algorithm) => {
    const { privateKey, publicKey } = pairFor(algorithm);
    const about = { alg: algorithm.name, use: 'sig', kid: 'k' };
    const verdict = await roundTrip(algorithm, jwk(privateKey, about), jwk(publicKey, about));
    expect(verdict).toMatchObject({ valid: true, header: { kid: 'k' } });
  });

  it.each(ALGORITHMS.filter(({ family }) => family === 'HS'))(
    '$name with a secret and with a JWK',
    async (algorithm) => {
      const key = createSecretKey(secret);
      expect(await roundTrip(algorithm, key, secret)).toMatchObject({ valid: true });
      expect(await roundTrip(algorithm, jwk(key), jwk(key))).toMatchObject({ valid: true });
    },
  );

  it.each([
    [
      'PKCS#1',
      'RS256',
      rsa.privateKey.export({ format: 'pem', type: 'pkcs1' }),
      rsa.publicKey.export({ format: 'pem', type: 'pkcs1' }),
    ],
    ['SEC1', 'ES256', p256.privateKey.export({ format: 'pem', type: 'sec1' }), pem(p256.publicKey)],
    [
      'SEC1 behind its parameters',
      'ES256',
      `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${p256.privateKey.export({ format: 'pem', type: 'sec1' })}`,
      pem(p256.publicKey),
    ],
    [
      'PEM with line breaks of Windows',
      'RS256',
      pem(rsa.privateKey).toString().replaceAll('\n', '\r\n'),
      pem(rsa.publicKey).toString().replaceAll('\n', '\r\n'),
    ],
    [
      'PEM with text around it',
      'RS256',
      `Bag Attributes\n  friendlyName: x\n${pem(rsa.privateKey)}\nbye\n`,
      pem(rsa.publicKey),
    ],
    ['the private key for both', 'RS256', pem(rsa.privateKey), pem(rsa.privateKey)],
    ['RSA-PSS', 'PS256', pem(pss.privateKey), pem(pss.publicKey)],
  ])('%s', async (_, name, signing, verifying) => {
    const algorithm = ALGORITHM.parse(name) as Algorithm;
    expect(await roundTrip(algorithm, Buffer.from(signing), Buffer.from(verifying))).toMatchObject({ valid: true });
  });

  it.each([
    [
      'PKCS#8',
      rsa.privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'open sesame' }),
    ],
    [
      'PKCS#1',
      rsa.privateKey.export({ format: 'pem', type: 'pkcs1', cipher: 'aes-256-cbc', passphrase: 'open sesame' }),
    ],
    ['SEC1', p256.privateKey.export({ format: 'pem', type: 'sec1', cipher: 'aes-128-cbc', passphrase: 'open sesame' })],
  ])('an encrypted %s key', async (_, encrypted) => {
    const key = Buffer.from(encrypted);
    const algorithm = requireFit(loadSigningKey(key, 'key', 'open sesame'), 'sign');
    expect(await roundTrip(algorithm, key, key, 'open sesame')).toMatchObject({ valid: true });
    expect(errorOf(() => loadSigningKey(key, 'key'))).toMatchObject({
      message: 'key: the key is encrypted, and there is no passphrase',
      hint: expect.stringContaining('--passphrase-file'),
    });
    expect(errorOf(() => loadSigningKey(key, 'key', 'wrong')).message).toContain('passphrase is wrong');
    expect(errorOf(() => loadSigningKey(key, 'key', '')).message).toContain('passphrase is wrong');
  });

  it.each([
    ['RSA', pem(rsa.privateKey), 'RS256'],
    ['P-256', pem(p256.privateKey), 'ES256'],
    ['P-384', pem(p384.privateKey), 'ES384'],
    ['P-521', pem(p521.privateKey), 'ES512'],
    ['RSA-PSS', pem(pss.privateKey), 'PS256'],
    ['a JWK with alg', jwk(rsa.privateKey, { alg: 'PS512' }), 'PS512'],
    ['an oct JWK', jwk(createSecretKey(secret)), 'HS256'],
  ])('the default algorithm of %s', (_, bytes, name) => {
    expect(requireFit(loadSigningKey(bytes, 'key'), 'sign').name).toBe(name);
  });
});

type Refused = readonly [name: string, content: string | Buffer, reason: RegExp, hint?: RegExp];

describe('a key that is refused', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  const rows: readonly Refused[] = [
    ['nothing', '', /it is empty/],
    ['garbage', 'hello', /neither a PEM key nor a JWK/, /--secret-file/],
    ['DER', rsa.privateKey.export({ format: 'der', type: 'pkcs8' }), /neither a PEM key nor a JWK/],
    ['a certificate', certificate, /does not hold a sound key/],
    [
      'a certificate request',
      certificate.replaceAll('CERTIFICATE', 'CERTIFICATE REQUEST'),
      /does not hold a sound key/,
    ],
    [
      'an SSH private key',
      '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb\n-----END OPENSSH PRIVATE KEY-----\n',
      /does not hold a sound key/,
    ],
    ['a key cut off', pem(rsa.privateKey).subarray(0, 900), /does not hold a sound key/],
    [
      'a key with garbage inside',
      '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
      /does not hold a sound key/,
    ],
    ['a public key', pem(rsa.publicKey), /a public key, which can only verify/, /private key that belongs to it/],
    ['a public JWK', jwk(rsa.publicKey), /a public key, which can only verify/],
    ['a JWK Set', JSON.stringify({ keys: [{}] }), /kty is missing/],
    ['JSON', '{"a":1}', /kty is missing/],
    ['broken JSON', '{"kty":"RSA",', /it is not JSON/],
    ['a JWK with a member twice', '{"kty":"oct","k":"AAAA","k":"BBBB"}', /"k" twice/],
    ['a JWK of an unknown type', '{"kty":"XYZ"}', /the JWK cannot be used/],
    [
      'an RSA JWK without its primes',
      JSON.stringify({ ...rsa.privateKey.export({ format: 'jwk' }), p: undefined }),
      /cannot be used/,
    ],
    ['an oct JWK in base64', '{"kty":"oct","k":"ab+/"}', /not canonical base64url/],
    ['a JWK with use of another type', jwk(rsa.privateKey, { use: 1 }), /use is not a string/],
    ['a JWK with key_ops of another type', jwk(rsa.privateKey, { key_ops: 'sign' }), /key_ops is not a list/],
    ['a JWK with kid of another type', jwk(rsa.privateKey, { kid: 7 }), /kid is not a string/],
    ['RSA of 1024 bits', pem(rsaPair(1024).privateKey), /1024 bits, and fewer than 2048/],
    ['Ed25519', pem(keyPair('ed25519').privateKey), /ed25519 \(EdDSA\), which the service does not take/],
    ['Ed448', pem(keyPair('ed448').privateKey), /ed448 \(EdDSA\)/],
    ['X25519', pem(keyPair('x25519').privateKey), /x25519, which the service does not take/],
    ['an OKP JWK', jwk(keyPair('ed25519').privateKey), /EdDSA/],
    ['secp256k1', pem(ecPair('secp256k1').privateKey), /wants a key on P-256, and the key is an EC key on secp256k1/],
    ['P-224', pem(ecPair('secp224r1').privateKey), /EC key on secp224r1/],
    ['an oct JWK of 31 bytes', jwk(createSecretKey(secret.subarray(0, 31))), /at least 32 bytes, and this has 31/],
    ['a JWK for encryption', jwk(rsa.privateKey, { use: 'enc' }), /use is "enc"/],
    ['a JWK for another algorithm', jwk(rsa.privateKey, { alg: 'RSA-OAEP' }), /for "RSA-OAEP" only/],
    ['a JWK that may only verify', jwk(rsa.privateKey, { key_ops: ['verify'] }), /may not be used to sign/],
  ];

  it.each(rows.map((row) => ({ name: row[0], row })))('$name', ({ row: [, content, reason, hint] }) => {
    const bytes = Buffer.from(content as string);
    const error = errorOf(() => requireFit(loadSigningKey(bytes, 'key file k'), 'sign'));
    expect(error.code).toBe('config');
    expect(error.message).toMatch(/^key file k: /);
    expect(error.message).toMatch(reason);
    if (hint !== undefined) expect(error.hint).toMatch(hint);
    expectNothingOf(bytes, error);
  });

  it.each<[string, Buffer, RegExp]>([
    ['PEM text', pem(rsa.publicKey), /public part could sign/],
    ['PEM text with more around it', Buffer.concat([Buffer.from('x\n'), pem(rsa.publicKey)]), /public part could sign/],
    ['a private key', pem(rsa.privateKey), /public part could sign/],
    ['a JWK', jwk(rsa.publicKey), /public part could sign/],
    ['a DER key', rsa.publicKey.export({ format: 'der', type: 'spki' }), /public part could sign/],
    [
      'the base64 of a DER key in lines',
      Buffer.from(der.toString('base64').replace(/(.{64})/g, '$1\r\n')),
      /public part/,
    ],
    [
      'the base64 of an EC key',
      Buffer.from(p256.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')),
      /public part/,
    ],
    ['the hex of a DER key', Buffer.from(der.toString('hex')), /public part could sign/],
    ['PKCS#1', rsa.publicKey.export({ format: 'der', type: 'pkcs1' }), /public part could sign/],
    ['the base64 of PEM', Buffer.from(pem(rsa.publicKey).toString('base64')), /public part could sign/],
    ['a certificate', Buffer.from('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'), /public part/],
    ['an SSH key', Buffer.from('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAA me\n'), /public part could sign/],
    ['31 bytes', secret.subarray(0, 31), /at least 32 bytes, and this has 31/],
  ])('%s as a secret', (_, bytes, reason) => {
    const error = errorOf(() => requireFit(loadSecret(bytes, 'secret file s'), 'sign'));
    expect(error.message).toMatch(reason);
    expectNothingOf(bytes, error);
  });

  it('a secret of random bytes stays one, as it is and in the usual codings', () => {
    for (let round = 0; round < (proving ? 3000 : 300); round += 1) {
      const bytes = randomBytes(64 + (round % 200));
      // The worst beginning: that of every key in DER.
      if (round % 2 === 0) bytes[0] = 0x30;
      if (round % 4 === 0) bytes[1] = bytes.length - 2 < 0x80 ? bytes.length - 2 : 0x81;
      const codings = [
        bytes,
        ...(['hex', 'base64', 'base64url'] as const).map((coding) => Buffer.from(bytes.toString(coding))),
      ];
      for (const coded of codings) expect(requireFit(loadSecret(coded, 's'), 'sign').name).toBe('HS256');
    }
  });

  it('is of no algorithm that it does not fit', () => {
    for (const algorithm of ALGORITHMS.filter(({ curve }) => curve !== 'P-256')) {
      expect(() => requireFit(loadSigningKey(pem(p256.privateKey), 'key'), 'sign', algorithm)).toThrow(
        `${algorithm.name} `,
      );
    }
  });
});

describe('secrets', () => {
  it.each([
    ['text that ends in a line break', Buffer.from(`${'s'.repeat(40)}\n`), true],
    ['text that does not', Buffer.from('s'.repeat(40)), false],
    ['bytes that end in 0x0a', Buffer.concat([Buffer.alloc(40, 0xfe), Buffer.from('\n')]), false],
  ])('a warning for %s', (_, bytes, warned) => {
    expect(lineBreakWarning(loadSecret(bytes, 's')) !== undefined).toBe(warned);
  });
});

function errorOf(work: () => unknown): FilingsError {
  try {
    work();
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

/** No message, hint or cause may hold a word of a key file. */
function expectNothingOf(bytes: Buffer, error: FilingsError): void {
  const told = JSON.stringify([error.message, error.hint, String(error.cause), error.stack]);
  for (const word of bytes.toString('latin1').match(/[\w+/-]{24,}/g) ?? [])
    expect(told).not.toContain(word.slice(0, 24));
}
