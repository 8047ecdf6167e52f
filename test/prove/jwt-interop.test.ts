import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ALGORITHMS, type Algorithm } from '../../src/jwt/algorithms.ts';
import { generateKey } from '../../src/jwt/keygen.ts';
import { type JwtKey, loadSecret, loadSigningKey, loadVerificationKey } from '../../src/jwt/keys.ts';
import { mintToken } from '../../src/jwt/sign.ts';
import { verifyToken } from '../../src/jwt/verify.ts';
import { part } from '../service/jwt-forge.ts';

const PYTHON = '/usr/bin/python3';

const folder = mkdtempSync(join(tmpdir(), 'filings-interop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const now = Math.floor(Date.now() / 1000);
const CLAIMS = { sub: 'Ünï', nbf: now - 60, exp: now + 3600 };

interface Made {
  readonly algorithm: Algorithm;
  /** Paths. */
  readonly privateFile: string;
  readonly publicFile: string;
  readonly token: string;
  readonly verifier: JwtKey;
}

/** A key of ours and a token minted with it. */
async function make(algorithm: Algorithm): Promise<Made> {
  const { privatePart, publicPart } = await generateKey(algorithm, 'pem');
  const privateFile = put(`${algorithm.name}.key`, privatePart);
  const publicFile = put(`${algorithm.name}.pub`, publicPart ?? '');
  const key = publicPart === undefined ? loadSecret(privatePart, 'secret') : loadSigningKey(privatePart, 'key');
  const { token } = await mintToken({ key, algorithm, issuedAt: now - 60, lifetime: 3660, sub: CLAIMS.sub });
  const verifier =
    publicPart === undefined ? loadSecret(privatePart, 'secret') : loadVerificationKey(Buffer.from(publicPart), 'key');
  return { algorithm, privateFile, publicFile, token, verifier };
}

const made = await Promise.all(ALGORITHMS.map(make));

describe("OpenSSL's command line", () => {
  it.each(made)('$algorithm.name made here verifies there', ({ algorithm, privateFile, publicFile, token }) => {
    const [header, payload, signature = ''] = token.split('.');
    const input = put('input', `${header}.${payload}`);
    const bytes = Buffer.from(signature, 'base64url');
    if (algorithm.family === 'HS') {
      expect(openssl(hmac(algorithm, privateFile, input))).toEqual(bytes);
      return;
    }
    const file = put('signature', algorithm.family === 'ES' ? toDer(bytes) : bytes);
    const verified = openssl(['dgst', ...digest(algorithm), '-verify', publicFile, '-signature', file, input]);
    expect(verified.toString()).toContain('Verified OK');
  });

  it.each(made)('$algorithm.name made there verifies here', async ({ algorithm, privateFile, verifier }) => {
    const input = `${part({ alg: algorithm.name })}.${part(CLAIMS)}`;
    const file = put('input', input);
    const signed =
      algorithm.family === 'HS'
        ? openssl(hmac(algorithm, privateFile, file))
        : openssl(['dgst', ...digest(algorithm), '-sign', privateFile, file]);
    const signature = algorithm.family === 'ES' ? fromDer(signed, (algorithm.signatureBytes ?? 0) / 2) : signed;
    const verdict = await verifyToken(`${input}.${signature.toString('base64url')}`, [verifier], { atSeconds: now });
    expect(verdict).toMatchObject({ valid: true, claims: CLAIMS });
  });

  it.each([
    ['PKCS#8', ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048']],
    ['PKCS#1', ['genrsa', '-traditional', '2048']],
    ['SEC1 with its parameters', ['ecparam', '-name', 'secp384r1', '-genkey']],
    [
      'encrypted',
      ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521', '-aes-256-cbc', '-pass', 'pass:abcd'],
    ],
    ['RSA-PSS', ['genpkey', '-algorithm', 'RSA-PSS', '-pkeyopt', 'rsa_keygen_bits:2048']],
  ])('a key made there, %s, is taken here', (_, args) => {
    expect(loadSigningKey(openssl(args), 'key', 'abcd').keyObject.type).toBe('private');
  });
});

describe('PyJWT', () => {
  it('takes the tokens of all algorithms, and they theirs', async () => {
    const script = `
import json, sys, jwt
made = []
for item in json.load(sys.stdin):
    private, public = open(item["privateFile"], "rb").read(), open(item["publicFile"], "rb").read()
    claims = jwt.decode(item["token"], public or private, algorithms=[item["alg"]], options={"require": ["nbf", "exp"]})
    made.append([claims, jwt.encode(claims, private, algorithm=item["alg"], headers={"kid": "python"})])
print(json.dumps(made))`;
    const input = made.map(({ algorithm, ...rest }) => ({ alg: algorithm.name, ...rest, verifier: undefined }));
    const run = spawnSync(PYTHON, ['-c', script], { input: JSON.stringify(input), encoding: 'utf8' });
    expect(run.stderr).toBe('');
    const answers = JSON.parse(run.stdout) as [object, string][];
    expect(answers).toHaveLength(12);
    for (const [index, [claims, token]] of answers.entries()) {
      expect(claims).toMatchObject(CLAIMS);
      const verdict = await verifyToken(token, [(made[index] as Made).verifier], { atSeconds: now });
      expect(verdict).toMatchObject({ valid: true, header: { kid: 'python' }, claims: CLAIMS });
    }
  });
});

function put(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function openssl(args: readonly string[]): Buffer {
  const run = spawnSync('openssl', args);
  if (run.status !== 0) throw new Error(`openssl ${args.join(' ')}: ${run.stderr}`);
  return run.stdout;
}

function digest({ hash, family }: Algorithm): string[] {
  const pss = ['-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:digest'];
  return [`-${hash}`, ...(family === 'PS' ? pss : [])];
}

function hmac({ hash }: Algorithm, keyFile: string, input: string): string[] {
  const key = openssl(['enc', '-base64', '-A', '-in', keyFile]).toString();
  const hexkey = Buffer.from(key, 'base64').toString('hex');
  return ['dgst', '-binary', `-${hash}`, '-mac', 'HMAC', '-macopt', `hexkey:${hexkey}`, input];
}

/** r and s side by side (RFC 7518 section 3.4) as a DER sequence of two integers. */
function toDer(raw: Buffer): Buffer {
  const integers = [raw.subarray(0, raw.length / 2), raw.subarray(raw.length / 2)].map((half) => {
    const bare = half.subarray(half.findIndex((byte) => byte !== 0));
    const body = (bare[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bare]) : bare;
    return Buffer.concat([Buffer.from([0x02, body.length]), body]);
  });
  const body = Buffer.concat(integers);
  return Buffer.concat([Buffer.from(body.length < 0x80 ? [0x30, body.length] : [0x30, 0x81, body.length]), body]);
}

function fromDer(der: Buffer, half: number): Buffer {
  let at = der[1] === 0x81 ? 3 : 2;
  const halves = [0, 1].map(() => {
    const length = der[at + 1] as number;
    const integer = der.subarray(at + 2, at + 2 + length);
    at += 2 + length;
    const bare = integer.subarray(Math.max(0, integer.length - half));
    return Buffer.concat([Buffer.alloc(half - bare.length), bare]);
  });
  return Buffer.concat(halves);
}
