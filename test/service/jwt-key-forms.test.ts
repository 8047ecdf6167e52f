import { execFileSync, spawnSync } from 'node:child_process';
import { type KeyObject, randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
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

const withTools = test.skipIf(!['openssl', 'jq'].every(has));

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
    loadKey(bytes, 'key file k', { path });
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
  throw new Error('the key was not refused');
}

type Form = { content: string | Buffer; seen: RegExp; type: string };

describe('a key in another form', () => {
  withTools.for`
    form                                   | seen                                         | content                                                  | type
    ${'PKCS#8 in DER'}                     | ${/a private key in DER/}                    | ${der}                                                   | ${'private'}
    ${'SEC1 in DER'}                       | ${/a private key in DER/}                    | ${ec.privateKey.export({ format: 'der', type: 'sec1' })} | ${'private'}
    ${'SPKI in DER'}                       | ${/a public key in DER/}                     | ${publicKey.export({ format: 'der', type: 'spki' })}     | ${'public'}
    ${'PEM in base64, in Windows lines'}   | ${/a PEM key in base64/}                     | ${inLines(Buffer.from(text).toString('base64'))}         | ${'private'}
    ${'DER in base64'}                     | ${/base64 without the first and last lines/} | ${der.toString('base64')}                                | ${'private'}
    ${'PEM without its armour'}            | ${/base64 without the first and last lines/} | ${ecText.replace(/-----.*-----\n/g, '')}                 | ${'private'}
    ${'a JWK in base64'}                   | ${/a JWK in base64/}                         | ${jwk(privateKey).toString('base64')}                    | ${'private'}
    ${'PEM with \\r\\n written out'}       | ${/PEM key with \\n written out/}            | ${escaped(text, '\\r\\n')}                               | ${'private'}
    ${'a public PEM with \\n written out'} | ${/PEM key with \\n written out/}            | ${escaped(`${pem(publicKey)}`)}                          | ${'public'}
    ${'PEM of an .env file'}               | ${/PEM key with \\n written out/}            | ${`FILINGS_KEY="${escaped(text)}"\n`}                    | ${'private'}
    ${'PEM of a shell script'}             | ${/a PEM key in quotes/}                     | ${`export KEY='${text}'\n`}                              | ${'private'}
    ${'PEM in YAML'}                       | ${/a PEM key whose lines are indented/}      | ${`key: |\n${text.replace(/^/gm, '  ')}`}                | ${'private'}
    ${'PEM on one line, with blanks'}      | ${/a PEM key on one line/}                   | ${ecText.replaceAll('\n', ' ')}                          | ${'private'}
    ${'PEM on one line, without blanks'}   | ${/a PEM key on one line/}                   | ${ecText.replaceAll('\n', '')}                           | ${'private'}
    ${'a JWK Set'}                         | ${/a JWK Set/}                               | ${JSON.stringify(set)}                                   | ${'private'}
    ${'a list of JWKs'}                    | ${/a list of JWKs/}                          | ${JSON.stringify(set.keys)}                              | ${'private'}
    ${'JSON with a PEM key'}               | ${/JSON that holds a PEM key/}               | ${JSON.stringify({ id: 7, private_key: text })}          | ${'private'}
  `('is refused with a command that makes a usable key of it: $form', (row: Form, { directory }) => {
    const path = fileIn(directory, row.content);
    const { code, message, hint = '' } = refusalOf(Buffer.from(row.content), path);
    expect([code, message]).toEqual(['config', expect.stringMatching(row.seen)]);
    const [, command = '', name = ''] = /^to convert it: (.* (converted\.\w+)\b.*)$/.exec(hint) ?? [];
    const run = () => execFileSync('sh', ['-c', command], { cwd: directory, stdio: 'pipe' });
    run();
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    expect(loadKey(readFileSync(join(directory, name)), 'converted').keyObject.type).toBe(row.type);
    // A second run would replace the key, or a file of the user.
    expect(run).toThrow('converted');
  });

  test('gives a command for a file to be named if the key came from stdin', () => {
    expect(refusalOf(der).hint).toContain('openssl pkey -inform DER < FILE > converted.pem');
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
  const hintOf = async (bytes: Buffer, path?: string) => {
    const verdict = await verifyToken(token, [loadSecret(bytes, 's', path)], { atSeconds: NOW });
    return 'hint' in verdict ? `${verdict.hint}` : undefined;
  };

  withTools('is the command that decodes a secret that is shown in base64', async ({ directory }) => {
    const shown = `${secret.toString('base64')}\n`;
    const hint = (await hintOf(Buffer.from(shown), fileIn(directory, shown))) ?? '';
    expect(hint).toContain('a secret that is shown in base64 must be decoded first: ');
    execFileSync('sh', ['-c', hint.replace(/^.*first: /, '')], { cwd: directory });
    const decoded = loadSecret(readFileSync(join(directory, 'secret.bin')), 'decoded');
    expect(await verifyToken(token, [decoded], { atSeconds: NOW })).toMatchObject({ valid: true });
  });

  test('says so without a command for a secret that is not text', async () => {
    expect(await hintOf(randomBytes(64), '/k')).toBe('a secret that is shown in base64 must be decoded first');
  });

  test('is absent for a key pair', async () => {
    const other = loadKey(pem(ec.publicKey), 'key');
    const verdict = await verifyToken(forge('ES256', ecPair('P-256').privateKey), [other], { atSeconds: NOW });
    expect(verdict).toMatchObject({ valid: false, failedCheck: 'signature' });
    expect(verdict).not.toHaveProperty('hint');
  });
});
