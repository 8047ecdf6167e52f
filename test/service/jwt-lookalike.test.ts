import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requireFit } from '../../src/jwt/key/key-fit.ts';
import { isPublicMaterial, loadSecret } from '../../src/jwt/key/keys.ts';
import { looksLikeKey } from '../../src/jwt/key/lookalike.ts';
import { proving } from '../proving.ts';
import { ecPair, pem, rsaPair } from './jwt-forge.ts';

const rsa = rsaPair();
const ec = ecPair('prime256v1');
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const take = (secret: Buffer | string) => requireFit(loadSecret(Buffer.from(secret as string), 'secret'), 'sign');

const publicPem = pem(rsa.publicKey).toString();
const ecPem = pem(ec.publicKey).toString();
const spki = rsa.publicKey.export({ format: 'der', type: 'spki' });
const pkcs1 = rsa.publicKey.export({ format: 'der', type: 'pkcs1' });
const ecSpki = ec.publicKey.export({ format: 'der', type: 'spki' });
const jwk = rsa.publicKey.export({ format: 'jwk' });
const json = JSON.stringify(jwk);
const sshBlob = Buffer.concat(
  [Buffer.from('ssh-rsa'), Buffer.from([1, 0, 1]), randomBytes(257)].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  }),
);
const ssh = `ssh-rsa ${sshBlob.toString('base64')}`;
const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();
const BOM = '\ufeff';

describe('a public key in any clothes is no secret', () => {
  it.each<[string, Buffer | string]>([
    ['a JWK', json],
    ['a JWK, indented', JSON.stringify(jwk, undefined, 2)],
    ['a JWK behind a byte-order mark', `${BOM}${json}`],
    ['a JWK with escaped names', json.replace('"kty"', '"\\u006bty"')],
    ['a JWK, cut off', json.slice(0, -5)],
    ['a JWK Set', JSON.stringify({ keys: [jwk] })],
    ['a JWK Set with escaped names', JSON.stringify({ keys: [jwk] }).replace('"kty"', '"\\u006b\\u0074y"')],
    ['a list of JWKs', JSON.stringify([jwk, jwk])],
    ['a JWK in what holds it', JSON.stringify({ data: { key: jwk } })],
    ['a JWK in UTF-16', Buffer.from(json, 'utf16le')],
    ['PEM', publicPem],
    ['PEM behind a byte-order mark', `${BOM}${publicPem}`],
    ['PEM in UTF-16, little-endian', Buffer.from(publicPem, 'utf16le')],
    ['PEM in UTF-16, little-endian, marked', Buffer.from(`${BOM}${publicPem}`, 'utf16le')],
    ['PEM in UTF-16, big-endian', swapped(publicPem)],
    ['PEM in UTF-16, big-endian, marked', swapped(`${BOM}${publicPem}`)],
    ['PEM in UTF-16 and a byte more', Buffer.concat([Buffer.from(publicPem, 'utf16le'), Buffer.from('\n')])],
    ['PEM, percent-encoded', encodeURIComponent(publicPem)],
    [
      'PEM, percent-encoded to the last character',
      publicPem.replace(/./gs, (c) => `%${Buffer.from(c).toString('hex')}`),
    ],
    ['PEM, encoded as a form', encodeURIComponent(publicPem).replaceAll('%20', '+')],
    ['PEM as a JSON string', JSON.stringify(ecPem)],
    ['PEM as a JSON string with escapes', `"${ecPem.replace(/./gs, (c) => `\\u00${Buffer.from(c).toString('hex')}`)}"`],
    ['the base64 of PEM', Buffer.from(publicPem).toString('base64')],
    ['the hex of PEM', Buffer.from(publicPem).toString('hex')],
    ['the base64 of PEM in UTF-16', Buffer.from(publicPem, 'utf16le').toString('base64')],
    ['SPKI', spki],
    ['SPKI and a line break', Buffer.concat([spki, Buffer.from('\n')])],
    ['SPKI of an EC key', ecSpki],
    ['PKCS#1', pkcs1],
    ['PKCS#1 and a line break', Buffer.concat([pkcs1, Buffer.from('\r\n')])],
    ['the hex of SPKI', spki.toString('hex')],
    [
      'the hex of SPKI in capitals, with colons',
      spki
        .toString('hex')
        .toUpperCase()
        .replace(/(..)(?=.)/g, '$1:'),
    ],
    ['the hex of SPKI in lines', spki.toString('hex').replace(/(.{60})/g, '$1\n')],
    ['the hex of SPKI behind 0x', `0x${spki.toString('hex')}\n`],
    ['the hex of PKCS#1', pkcs1.toString('hex')],
    ['the base64 of SPKI', spki.toString('base64')],
    ['the base64 of SPKI in lines', spki.toString('base64').replace(/(.{64})/g, '$1\r\n')],
    ['the base64url of PKCS#1', pkcs1.toString('base64url')],
    ['the base64 of an EC key', `${ecSpki.toString('base64')}\n`],
    ['a key of SSH', `${ssh} me@host\n`],
    ['a key of SSH behind a comment', `# my key\n\n${ssh}\n`],
    ['a key of SSH behind options', `from="10.0.0.0/8",no-pty ${ssh} me\n`],
    ['a key of SSH behind a host', `host.example,10.0.0.1 ${ssh}\n`],
    ['an EC key of SSH', 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBA== me\n'],
    ['a hardware key of SSH', 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t me\n'],
    ['the base64 of a key of SSH alone', sshBlob.toString('base64')],
    [
      'a key of SSH in RFC 4716',
      `---- BEGIN SSH2 PUBLIC KEY ----\n${sshBlob.toString('base64')}\n---- END SSH2 PUBLIC KEY ----\n`,
    ],
    ['a key in XML', '<RSAKeyValue><Modulus>AQAB</Modulus><Exponent>AQAB</Exponent></RSAKeyValue>'],
  ])('%s', (_, secret) => {
    expect(() => take(secret)).toThrow('whoever knows its public part could sign');
  });

  it.runIf(hasOpenssl)('a certificate, its request, PKCS#7 and PKCS#12', () => {
    const folder = mkdtempSync(join(tmpdir(), 'filings-lookalike-'));
    const path = (name: string) => join(folder, name);
    const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
    try {
      writeFileSync(path('key'), pem(rsa.privateKey), { mode: 0o600 });
      openssl('req', '-new', '-x509', '-key', path('key'), '-subj', '/CN=x', '-out', path('cert'));
      openssl('req', '-new', '-key', path('key'), '-subj', '/CN=x', '-outform', 'DER', '-out', path('csr'));
      openssl('x509', '-in', path('cert'), '-outform', 'DER', '-out', path('der'));
      openssl('crl2pkcs7', '-nocrl', '-certfile', path('cert'), '-outform', 'DER', '-out', path('p7b'));
      const pfx = ['pkcs12', '-export', '-inkey', path('key'), '-in', path('cert'), '-passout', 'pass:x'];
      openssl(...pfx, '-out', path('p12'));
      for (const name of ['cert', 'csr', 'der', 'p7b', 'p12']) {
        const bytes = readFileSync(path(name));
        for (const clothed of [bytes, bytes.toString('hex'), bytes.toString('base64')]) {
          expect(() => take(clothed), name).toThrow('whoever knows its public part could sign');
        }
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('what is a secret stays one', () => {
  it('bytes at random, as they are and in the usual codings', () => {
    for (let round = 0; round < (proving ? 3000 : 500); round += 1) {
      const bytes = randomBytes(64 + (round % 200));
      // The worst beginning: that of every key in DER.
      if (round % 2 === 0) bytes[0] = 0x30;
      if (round % 4 === 0) bytes[1] = bytes.length - 2 < 0x80 ? bytes.length - 2 : 0x81;
      if (round % 8 === 0) bytes[2] = bytes.length - 3;
      expect(looksLikeKey(bytes)).toBe(false);
      if (round % 10 > 0) continue;
      for (const coding of ['hex', 'base64', 'base64url'] as const) {
        expect(looksLikeKey(Buffer.from(bytes.toString(coding)))).toBe(false);
      }
    }
  });

  it.each([
    'correct horse battery staple, and then some',
    'ssh-rsa is what I typed, and more than 32 characters of it',
    '{"password":"not a key, and long enough for HS256"}',
    '["keys","kty","of a piano, long enough for all"]',
    '100% of this is a secret + 50%25 of what it says',
    '0x0123456789abcdef0123456789abcdef0123456789abcdef',
    '3082010a'.repeat(8),
    'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA',
    'BEGIN PUBLIC KEY without its dashes, which is a passphrase',
    `\u0000\u0000\u0000\u0007 and so on, ${'x'.repeat(32)}`,
  ])('%j', (secret) => {
    take(secret);
  });

  it('any long text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 64, maxLength: 200 }), (secret) => {
        take(secret);
      }),
    );
  });
});

it('a private JWK does not become public by naming a key of SSH', () => {
  const { d } = ec.privateKey.export({ format: 'jwk' });
  expect(isPublicMaterial(Buffer.from(JSON.stringify({ kty: 'EC', d, kid: `x ${ssh}` })))).toBe(false);
  expect(isPublicMaterial(Buffer.from(`PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 8\n`))).toBe(false);
  expect(isPublicMaterial(Buffer.from(`${ssh} me@host\n`))).toBe(true);
});
