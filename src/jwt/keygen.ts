import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Algorithm } from './algorithms.ts';

interface GeneratedKey {
  /** PEM (PKCS#8), a JWK, or the raw bytes of an HMAC secret. */
  readonly signingKey: Buffer | string;
  /** PEM (SPKI) or a JWK. Undefined for HMAC, whose secret also verifies. */
  readonly publicKey?: string;
  /** For HMAC, the secret in base64, as portals take it. */
  readonly shownSecret?: string;
}

/**
 * RS and PS require at least 2048 bits (RFC 7518, sections 3.3 and 3.5). 3072 bits are about as strong as SHA-256 and
 * P-256 (NIST SP 800-57 part 1, table 2).
 */
const RSA_BITS = 3072;
/** Node 20 hangs if its synchronous generator is collected while its key is exported as a JWK. */
const generate = promisify(generateKeyPair);

/**
 * An HMAC secret is as long as the hash, the least that is allowed (RFC 7518, section 3.2). PEM has no place for a
 * `kid`.
 */
export async function generateKey(algorithm: Algorithm, format: 'pem' | 'jwk', kid?: string): Promise<GeneratedKey> {
  const { name: alg, family, curve, hashBytes } = algorithm;
  const toJwk = (key: object) => `${JSON.stringify({ ...key, use: 'sig', alg, kid }, null, 2)}\n`;
  if (family === 'HS') {
    const secret = randomBytes(hashBytes);
    // PEM has no form for a secret.
    const signingKey = format === 'pem' ? secret : toJwk({ kty: 'oct', k: secret.toString('base64url') });
    return { signingKey, shownSecret: `${secret.toString('base64')}\n` };
  }
  // Node also accepts the JWK name of a curve, such as `P-256`. The PS algorithms also use an ordinary RSA key, because
  // a JWK has no other RSA type (RFC 7518, section 6.3).
  const { privateKey, publicKey } = curve
    ? await generate('ec', { namedCurve: curve })
    : await generate('rsa', { modulusLength: RSA_BITS });
  if (format === 'jwk')
    return { signingKey: toJwk(privateKey.export({ format })), publicKey: toJwk(publicKey.export({ format })) };
  return {
    signingKey: privateKey.export({ format, type: 'pkcs8' }),
    publicKey: publicKey.export({ format, type: 'spki' }).toString(),
  };
}
