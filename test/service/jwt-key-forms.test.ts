import { execFileSync } from 'node:child_process';
import { createPublicKey, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { loadKey, loadSecret } from '../../src/jwt/keys.ts';
import { verifyToken } from '../../src/jwt/verify.ts';
import { ecPair, rsaPair } from '../key-pairs.ts';
import { forge, jwk, NOW, pem } from './jwt-forge.ts';

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
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`]);
    return true;
  } catch {
    return false;
  }
}

/** Writes a file into a new directory, whose name has a space. */
function fileOf(content: string | Buffer) {
  const directory = mkdtempSync(join(tmpdir(), 'filings forms-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'portal key');
  writeFileSync(path, content, { mode: 0o600 });
  return { directory, path, bytes: Buffer.from(content) };
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

type Row = [what: string, seen: RegExp, content: () => string | Buffer, type?: 'public'];
const FORMS: readonly Row[] = [
  ['PKCS#8 in DER', /a private key in DER/, () => der],
  ['PKCS#1 in DER', /a private key in DER/, () => privateKey.export({ format: 'der', type: 'pkcs1' })],
  ['SEC1 in DER', /a private key in DER/, () => ec.privateKey.export({ format: 'der', type: 'sec1' })],
  ['SPKI in DER', /a public key in DER/, () => publicKey.export({ format: 'der', type: 'spki' }), 'public'],
  ['PEM in base64', /a PEM key in base64/, () => Buffer.from(text).toString('base64')],
  ['PEM in base64, in Windows lines', /a PEM key in base64/, () => inLines(Buffer.from(text).toString('base64'))],
  ['DER in base64', /base64 without the first and last lines/, () => der.toString('base64')],
  ['PEM without its armour', /base64 without the first and last lines/, () => ecText.replace(/-----.*-----\n/g, '')],
  ['a JWK in base64', /a JWK in base64/, () => jwk(privateKey).toString('base64')],
  ['PEM with \\n written out', /PEM key with \\n written out/, () => escaped(text)],
  ['PEM with \\r\\n written out', /PEM key with \\n written out/, () => escaped(text, '\\r\\n')],
  ['a public PEM with \\n written out', /PEM key with \\n written out/, () => escaped(`${pem(publicKey)}`), 'public'],
  ['PEM of an .env file', /PEM key with \\n written out/, () => `FILINGS_KEY="${escaped(text)}"\n`],
  ['PEM of a shell script', /a PEM key in quotes/, () => `export KEY='${text}'\n`],
  ['PEM in YAML', /a PEM key whose lines are indented/, () => `key: |\n${text.replace(/^/gm, '  ')}`],
  ['PEM as a JSON string', /PEM key with \\n written out/, () => JSON.stringify(ecText)],
  ['PEM in quotes', /a PEM key in quotes/, () => `'${text.trimEnd()}'`],
  ['PEM on one line, with blanks', /a PEM key on one line/, () => ecText.replaceAll('\n', ' ')],
  ['PEM on one line, without blanks', /a PEM key on one line/, () => ecText.replaceAll('\n', '')],
  ['indented PEM', /a PEM key whose lines are indented/, () => text.replace(/^/gm, '    ')],
  ['a JWK Set', /a JWK Set/, () => JSON.stringify(set)],
  ['a list of JWKs', /a list of JWKs/, () => JSON.stringify(set.keys)],
  ['JSON with a PEM key', /JSON that holds a PEM key/, () => JSON.stringify({ id: 7, private_key: text })],
];

describe('a key in another form', () => {
  withTools.each<Row>(FORMS)(
    'is refused with a command that makes a usable key of it: %s',
    (_, seen, content, type) => {
      const { directory, path, bytes } = fileOf(content());
      const { code, message, hint = '' } = refusalOf(bytes, path);
      expect([code, message]).toEqual(['config', expect.stringMatching(seen)]);
      const [, command = ''] = /^to convert it: (.*)$/.exec(hint) ?? [];
      const run = () => execFileSync('sh', ['-c', command], { cwd: directory, stdio: 'pipe' });
      run();
      const name = command.includes('converted.jwk') ? 'converted.jwk' : 'converted.pem';
      const mode = `${execFileSync('stat', ['-c', '%a', name], { cwd: directory })}`;
      expect(mode).toBe('600\n');
      const key = loadKey(execFileSync('cat', [name], { cwd: directory }), 'converted').keyObject;
      expect(key.type).toBe(type ?? 'private');
      // A second run would replace the key, or a file of the user.
      expect(run).toThrow('converted');
    },
  );

  test('gives a command for a file to be named if the key came from stdin', () => {
    expect(refusalOf(der).hint).toContain('openssl pkey -inform DER < FILE > converted.pem');
  });

  test.each([
    ['a certificate', '30820122300d06092a864886', /it is neither a PEM key nor a JWK/],
    ['text that begins with the letter of DER', `0${'a'.repeat(60)}`, /it is neither a PEM key nor a JWK/],
  ])('is not guessed from %s that is damaged', (_, content, seen) => {
    expect(refusalOf(Buffer.from(content)).message).toMatch(seen);
  });

  test.each([
    ['UTF-8', Buffer.from(`\ufeff${text}`), Buffer.from(`\ufeff${jwk(ec.privateKey)}`)],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), Buffer.from(`\ufeff${jwk(ec.privateKey)}`, 'utf16le')],
  ])('may begin with a byte-order mark in %s', (_, asPem, asJwk) => {
    const keys = [asPem, asJwk].map((bytes) => createPublicKey(loadKey(bytes, 'key').keyObject));
    expect(keys.map((key, index) => key.equals([publicKey, ec.publicKey][index] ?? key))).toEqual([true, true]);
  });
});

describe('the hint for an HMAC signature that does not match', () => {
  const token = forge('HS256', secret);
  const hintOf = async (bytes: Buffer, path?: string) => {
    const verdict = await verifyToken(token, [loadSecret(bytes, 's', path)], { atSeconds: NOW });
    return 'hint' in verdict ? verdict.hint : undefined;
  };

  withTools('is the command that decodes a secret that is shown in base64', async () => {
    const { directory, path, bytes } = fileOf(`${secret.toString('base64')}\n`);
    const hint = (await hintOf(bytes, path)) ?? '';
    expect(hint).toContain('a secret that is shown in base64 must be decoded first: ');
    execFileSync('sh', ['-c', hint.replace(/^.*first: /, '')], { cwd: directory });
    const decoded = loadSecret(execFileSync('cat', ['secret.bin'], { cwd: directory }), 'decoded');
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
