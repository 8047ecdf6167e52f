import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { requireFit } from '../../src/jwt/key-fit.ts';
import { mintToken } from '../../src/jwt/sign.ts';
import { loadSigningKey } from '../service/jwt-forge.ts';

const openssl = (args: readonly string[], input?: Buffer | string) => {
  const { status, stdout, stderr } = spawnSync('openssl', args, { ...(input !== undefined && { input }) });
  if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
  return stdout;
};

describe('a key of the OpenSSL command line', () => {
  test.each([
    ['PKCS#8', ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048']],
    ['PKCS#1', ['genrsa', '-traditional', '2048']],
    ['SEC1 with parameters', ['ecparam', '-name', 'secp384r1', '-genkey']],
    [
      'encrypted',
      ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521', '-aes-256-cbc', '-pass', 'pass:abcd'],
    ],
    ['RSA-PSS', ['genpkey', '-algorithm', 'RSA-PSS', '-pkeyopt', 'rsa_keygen_bits:2048']],
  ])('signs a token, and OpenSSL reads its public key: %s', async (_, args) => {
    const key = loadSigningKey(openssl(args), 'key', 'abcd');
    const algorithm = requireFit(key, 'sign');
    const token = await mintToken({ key, algorithm, issuedAt: 1_800_000_000, lifetime: 60 });
    expect(token.split('.')).toHaveLength(3);
    const pem = createPublicKey(key.keyObject).export({ format: 'pem', type: 'spki' });
    expect(openssl(['pkey', '-pubin', '-noout', '-text'], pem).toString()).toContain('Public-Key');
  });
});
