import { execFileSync, spawnSync } from 'node:child_process';
import { type KeyObject, randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { chooseAlgorithm } from '../../src/jwt/key-fit.ts';
import { loadKey, loadSecret } from '../../src/jwt/keys.ts';
import { ecPair, rsaPair } from '../key-pairs.ts';
import { forge, jwk, NOW, pem, verifyToken } from './jwt-forge.ts';
import { test } from './transfer-fixture.ts';

const { privateKey, publicKey } = rsaPair('rsa');
const ec = ecPair('P-256');
const text = `${pem(privateKey)}`;
const ecText = `${pem(ec.privateKey)}`;
const escaped = (key: string, end = '\\n') => key.replaceAll('\n', end);
const der = privateKey.export({ format: 'der', type: 'pkcs8' });
const set = { keys: [JSON.parse(`${jwk(privateKey)}`), JSON.parse(`${jwk(ec.privateKey)}`)] };
const inLines = (base64: string) => base64.replace(/(.{76})/g, '$1\r\n');
const secret = randomBytes(40);
/** Keys on P-256, except the Ed25519 ones. The passphrases are `pw`. They were made by OpenSSL, OpenSSH and PuTTY. */
const made: Record<string, string> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/key-forms.json'), 'utf8'),
);
const bytesOf = (base64 = '') => Buffer.from(base64.replace(/-----.*/g, ''), 'base64');

const hasTools = ['openssl', 'jq', 'ssh-keygen'].every(has);

function has(tool: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0;
}

/** Writes a file whose name has a space. Returns its path. */
function fileIn(directory: string, content: string | Buffer): string {
  const path = join(directory, 'portal key');
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

function refusalOf(bytes: Buffer, path?: string): FilingsError {
  try {
    loadKey(bytes, 'key file k', path);
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
  throw new Error('the key was not refused');
}

/** Both as a key and as a secret. Returns the hint. */
function expectRefused(bytes: Buffer, path: string, contents: string): string {
  const { code, message, hint = '' } = refusalOf(bytes, path);
  expect([code, message]).toEqual(['config', `key file k: it is ${contents}`]);
  const asSecret = () => chooseAlgorithm(loadSecret(bytes, 's', path), 'sign');
  expect(asSecret).toThrow(expect.objectContaining({ code: 'config', hint }));
  expect(asSecret).toThrow(`s: the secret is ${contents}, not an HMAC secret`);
  return hint;
}

type Form = { content: string | Buffer; seen: string; type: string };

describe('a key in another form', () => {
  test.for`
    form                                   | seen                                                       | content                                                  | type
    ${'PKCS#8 in DER'}                     | ${'a private key in DER'}                                  | ${der}                                                   | ${'private'}
    ${'SEC1 in DER'}                       | ${'a private key in DER'}                                  | ${ec.privateKey.export({ format: 'der', type: 'sec1' })} | ${'private'}
    ${'SPKI in DER'}                       | ${'a public key in DER'}                                   | ${publicKey.export({ format: 'der', type: 'spki' })}     | ${'public'}
    ${'PKCS#1, public, in DER'}            | ${'a public key in DER'}                                   | ${publicKey.export({ format: 'der', type: 'pkcs1' })}    | ${'public'}
    ${'PEM in base64, in Windows lines'}   | ${'a PEM key in base64'}                                   | ${inLines(Buffer.from(text).toString('base64'))}         | ${'private'}
    ${'DER in base64'}                     | ${'a private key in base64'}                               | ${der.toString('base64')}                                | ${'private'}
    ${'PEM without its armour'}            | ${'a private key in base64'}                               | ${ecText.replace(/-----.*-----\n/g, '')}                 | ${'private'}
    ${'a JWK in base64'}                   | ${'a JWK in base64'}                                       | ${jwk(privateKey).toString('base64')}                    | ${'private'}
    ${'PEM with \\r\\n written out'}       | ${'a PEM key with \\n written out instead of line breaks'} | ${escaped(text, '\\r\\n')}                               | ${'private'}
    ${'a public PEM with \\n written out'} | ${'a PEM key with \\n written out instead of line breaks'} | ${escaped(`${pem(publicKey)}`)}                          | ${'public'}
    ${'PEM of an .env file'}               | ${'a PEM key with \\n written out instead of line breaks'} | ${`FILINGS_KEY="${escaped(text)}"\n`}                    | ${'private'}
    ${'PEM of a shell script'}             | ${'a PEM key in quotes'}                                   | ${`export KEY='${text}'\n`}                              | ${'private'}
    ${'PEM in YAML'}                       | ${'a PEM key whose lines are indented or broken'}          | ${`key: |\n${text.replace(/^/gm, '  ')}`}                | ${'private'}
    ${'PEM on one line, with blanks'}      | ${'a PEM key on one line'}                                 | ${ecText.replaceAll('\n', ' ')}                          | ${'private'}
    ${'PEM on one line, without blanks'}   | ${'a PEM key on one line'}                                 | ${ecText.replaceAll('\n', '')}                           | ${'private'}
    ${'a JWK Set'}                         | ${'a JWK Set'}                                             | ${JSON.stringify(set)}                                   | ${'private'}
    ${'a list of JWKs'}                    | ${'a list of JWKs'}                                        | ${JSON.stringify(set.keys)}                              | ${'private'}
    ${'OpenSSH'}                           | ${'an OpenSSH private key'}                                | ${made.OpenSSH}                                          | ${'private'}
    ${'OpenSSH, public'}                   | ${'an OpenSSH public key'}                                 | ${made['OpenSSH, public']}                               | ${'public'}
    ${'RFC 4716'}                          | ${'an SSH public key (RFC 4716)'}                          | ${made['RFC 4716']}                                      | ${'public'}
    ${'a certificate in DER'}              | ${'a certificate in DER'}                                  | ${bytesOf(made.certificate)}                             | ${'public'}
    ${'a certificate request'}             | ${'a certificate request'}                                 | ${made['certificate request']}                           | ${'public'}
    ${'PKCS#7'}                            | ${'PKCS#7'}                                                | ${made['PKCS#7']}                                        | ${'public'}
    ${'DER in base64url'}                  | ${'a private key in base64'}                               | ${der.toString('base64url')}                             | ${'private'}
    ${'a JWK in quotes'}                   | ${'a JWK in quotes'}                                       | ${JSON.stringify(`${jwk(ec.privateKey)}`)}               | ${'private'}
    ${'JSON with a PEM key'}               | ${'JSON that holds a PEM key'}                             | ${JSON.stringify({ id: 7, private_key: text })}          | ${'private'}
  `('is refused with a command that makes a usable key of it: $form', (row: Form, { directory, skip }) => {
    const path = fileIn(directory, row.content);
    const hint = expectRefused(Buffer.from(row.content), path, row.seen);
    skip(!hasTools);
    const [, command = '', name = ''] = /^to convert it: (.* (converted\.\w+)\b.*)$/.exec(hint) ?? [];
    const run = () => execFileSync('sh', ['-c', command], { cwd: directory, stdio: 'pipe' });
    run();
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    expect(loadKey(readFileSync(join(directory, name)), 'converted').keyObject.type).toBe(row.type);
    // A second run would replace the key, or a file of the user.
    expect(run).toThrow('converted');
  });

  const [oldPem, old] = ['a PEM key with an encryption that Node.js no longer reads', '-provider legacy'];
  const [sshType, make] = ['an SSH key of a type that the service does not accept', 'filings token keygen --alg ES256'];
  const pgp = '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGN=\n-----END PGP PRIVATE KEY BLOCK-----\n';
  const several = `${text}${ecText}`;
  test.each`
    form                              | contents                                                       | hint                                  | content
    ${'encrypted OpenSSH'}            | ${'an OpenSSH private key'}                                    | ${"-p -N '' -m PEM -f converted.key"} | ${made['encrypted OpenSSH']}
    ${'a line of authorized_keys'}    | ${'an OpenSSH public key'}                                     | ${'ssh-keygen -e -m PKCS8 -f /k > '}  | ${`restrict,command="a b" ${made['OpenSSH, public']}`}
    ${'OpenSSH on one line'}          | ${'an OpenSSH private key whose lines are indented or broken'} | ${'break its lines again'}            | ${escaped(`${made.OpenSSH}`)}
    ${'Ed25519 in OpenSSH'}           | ${sshType}                                                     | ${make}                               | ${made['Ed25519 in OpenSSH']}
    ${'encrypted Ed25519 in OpenSSH'} | ${sshType}                                                     | ${make}                               | ${made['encrypted Ed25519 in OpenSSH']}
    ${'Ed25519, public'}              | ${sshType}                                                     | ${make}                               | ${made['Ed25519, public']}
    ${'Ed25519 in RFC 4716'}          | ${sshType}                                                     | ${make}                               | ${made['Ed25519 in RFC 4716']}
    ${'PuTTY'}                        | ${'a PuTTY key'}                                               | ${'puttygen /k -O private-openssh'}   | ${made.PuTTY}
    ${'PKCS#12'}                      | ${'PKCS#12 in DER'}                                            | ${'pkcs12 -nodes -nocerts < /k > '}   | ${bytesOf(made['PKCS#12 in base64'])}
    ${'PKCS#12 in base64'}            | ${'PKCS#12 in base64'}                                         | ${'| openssl pkcs12 -nodes'}          | ${made['PKCS#12 in base64']}
    ${'PKCS#12 with RC2'}             | ${'PKCS#12 in DER'}                                            | ${'pkcs12 -nodes -nocerts -legacy'}   | ${bytesOf(made['PKCS#12 with RC2 in base64'])}
    ${'SEC1 with DES-CBC'}            | ${oldPem}                                                      | ${old}                                | ${made['SEC1 with DES-CBC']}
    ${'PKCS#8 with PBES1'}            | ${oldPem}                                                      | ${old}                                | ${made['PKCS#8 with PBES1']}
    ${'PKCS#8 with RC2'}              | ${oldPem}                                                      | ${old}                                | ${made['PKCS#8 with RC2']}
    ${'encrypted PKCS#8 in DER'}      | ${'an encrypted private key in DER'}                           | ${'pkey -aes256 -inform DER < /k'}    | ${bytesOf(made['encrypted PKCS#8 in base64'])}
    ${'encrypted PKCS#8 on one line'} | ${'a PEM key on one line'}                                     | ${'| openssl pkey -aes256'}           | ${`-----BEGIN ENCRYPTED PRIVATE KEY-----${made['encrypted PKCS#8 in base64']}-----END ENCRYPTED PRIVATE KEY-----`}
    ${'a private key in hex'}         | ${'a private key in hex'}                                      | ${'xxd -r -p < /k | openssl pkey'}    | ${der.toString('hex')}
    ${'PGP'}                          | ${'a PGP or age key'}                                          | ${make}                               | ${pgp}
    ${'age'}                          | ${'a PGP or age key'}                                          | ${make}                               | ${'# created: 2025\nAGE-SECRET-KEY-1QQ\n'}
    ${'XML'}                          | ${'an RSA key in XML'}                                         | ${'ExportPkcs8PrivateKeyPem'}         | ${'<RSAKeyValue><Modulus>AQAB</Modulus></RSAKeyValue>'}
    ${'two private keys'}             | ${'a file with several keys'}                                  | ${'keep only one of them'}            | ${several}
  `('is named, with a way out, and never taken for a secret: $form', ({ content, contents, hint }) => {
    expect(expectRefused(Buffer.from(content), '/k', contents)).toContain(hint);
  });

  test('is read with its passphrase if it has an encryption that Node.js reads', () => {
    const bytes = Buffer.from(made['SEC1 with DES-EDE3-CBC'] ?? '');
    expect(() => loadKey(bytes, 'k')).toThrow('the key is encrypted');
    expect(loadKey(bytes, 'k', undefined, 'pw').keyType).toBe('ec');
  });

  test('gives a command for a file to be named if the key came from stdin', () => {
    expect(refusalOf(der).hint).toContain('openssl pkey -inform DER < FILE > converted.key');
  });

  test('is not guessed from damaged keys and other text', () => {
    for (const damaged of ['30820122300d06092a864886', `0${'a'.repeat(60)}`])
      expect(refusalOf(Buffer.from(damaged)).message).toContain('it is neither a PEM key nor a JWK');
  });

  test('may begin with a byte-order mark', () => {
    for (const encoding of ['utf8', 'utf16le'] as const) {
      const [asPem, asJwk] = [text, `${jwk(ec.privateKey)}`].map(
        (key) => loadKey(Buffer.from(`\ufeff${key}`, encoding), 'key').keyObject,
      ) as [KeyObject, KeyObject];
      expect([asPem.equals(privateKey), asJwk.equals(ec.privateKey)]).toEqual([true, true]);
    }
  });
});

describe('the hint for an HMAC signature that does not match', () => {
  const token = forge('HS256', secret);
  const hintOf = async (bytes: Buffer) => {
    const verdict = await verifyToken(token, [loadSecret(bytes, 's')], { atSeconds: NOW });
    return 'hint' in verdict ? `${verdict.hint}` : undefined;
  };

  test('says that a secret in base64 must be decoded', async () => {
    expect(await hintOf(randomBytes(64))).toBe('a secret that is shown in base64 must be decoded first');
  });

  test('is absent for a key pair', async () => {
    const other = loadKey(pem(ec.publicKey), 'key');
    const verdict = await verifyToken(forge('ES256', ecPair('P-256').privateKey), [other], { atSeconds: NOW });
    expect(verdict).toMatchObject({ valid: false, failedCheck: 'signature' });
    expect(verdict).not.toHaveProperty('hint');
  });
});
