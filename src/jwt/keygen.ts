import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Algorithm } from './algorithms.ts';

interface GeneratedKey {
  /** PEM (PKCS#8), a JWK, or the raw bytes of a secret. */
  readonly privatePart: Buffer | string;
  /** PEM (SPKI) or a JWK. A secret has no public part. */
  readonly publicPart?: string;
}

/** An RSA key of this size is about as strong as SHA-256 and P-256 (NIST SP 800-57 part 1, table 2). */
const RSA_BITS = 3072;
const generate = promisify(generateKeyPair);

/** Returns a new key or secret. A secret has the length of the hash (RFC 7518, section 3.2). */
export async function generateKey(algorithm: Algorithm, format: 'pem' | 'jwk', kid?: string): Promise<GeneratedKey> {
  const { name: alg, family, curve, hashBytes } = algorithm;
  const jwk = (key: object) => `${JSON.stringify({ ...key, use: 'sig', alg, kid }, null, 2)}\n`;
  if (family === 'HS') {
    const secret = randomBytes(hashBytes);
    return { privatePart: format === 'pem' ? secret : jwk({ kty: 'oct', k: secret.toString('base64url') }) };
  }
  const { privateKey, publicKey } = curve
    ? await generate('ec', { namedCurve: curve })
    : await generate('rsa', { modulusLength: RSA_BITS });
  if (format === 'jwk')
    return { privatePart: jwk(privateKey.export({ format })), publicPart: jwk(publicKey.export({ format })) };
  return {
    privatePart: privateKey.export({ format, type: 'pkcs8' }),
    publicPart: publicKey.export({ format, type: 'spki' }).toString(),
  };
}
