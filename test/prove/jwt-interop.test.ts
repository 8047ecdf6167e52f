import { execFileSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { chooseAlgorithm } from '../../src/jwt/key-fit.ts';
import { mintToken } from '../../src/jwt/sign.ts';
import { loadSigningKey } from '../service/jwt-forge.ts';

const openssl = (line: string, input: Buffer | string = '') =>
  execFileSync('openssl', line.split(' '), { input, stdio: 'pipe' });

test.for([
  { kind: 'PKCS#8', command: 'genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048' },
  { kind: 'PKCS#1', command: 'genrsa -traditional 2048' },
  { kind: 'SEC1 with parameters', command: 'ecparam -name secp384r1 -genkey' },
  { kind: 'encrypted', command: 'genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521 -aes-256-cbc -pass pass:abcd' },
  { kind: 'RSA-PSS', command: 'genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048' },
])('a $kind key of OpenSSL signs a token, and OpenSSL reads its public key', async ({ command }) => {
  const key = loadSigningKey(openssl(command), 'key', 'abcd');
  const algorithm = chooseAlgorithm(key, 'sign');
  const token = await mintToken({ key, algorithm, issuedAt: 1_800_000_000, lifetime: 60 });
  expect(token.split('.')).toHaveLength(3);
  const pem = createPublicKey(key.keyObject).export({ format: 'pem', type: 'spki' });
  expect(openssl('pkey -pubin -noout -text', pem).toString()).toContain('Public-Key');
});
