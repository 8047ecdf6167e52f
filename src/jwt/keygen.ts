import { generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Algorithm } from './algorithms.ts';

export type KeyFormat = 'pem' | 'jwk';

export interface GeneratedKey {
  /** What the file holds: PEM (PKCS#8), a JWK, or a secret's raw bytes. */
  readonly privatePart: Buffer;
  /** PEM (SPKI) or a JWK; a secret has none. */
  readonly publicPart: string | undefined;
}

/** About as strong as SHA-256 and P-256 (NIST SP 800-57 part 1, table 2). */
const RSA_BITS = 3072;
const generate = promisify(generateKeyPair);

/** A new key for an algorithm; for HMAC a random secret of the hash's length (RFC 7518 section 3.2). */
export async function generateKey(algorithm: Algorithm, format: KeyFormat, kid?: string): Promise<GeneratedKey> {
  const about = { use: 'sig', alg: algorithm.name, ...(kid === undefined ? {} : { kid }) };
  if (algorithm.family === 'HS') return generateSecret(algorithm, format, about);
  const { privateKey, publicKey } = await generatePair(algorithm);
  if (format === 'jwk') {
    return {
      privatePart: Buffer.from(jwkText({ ...privateKey.export({ format }), ...about })),
      publicPart: jwkText({ ...publicKey.export({ format }), ...about }),
    };
  }
  return {
    privatePart: Buffer.from(privateKey.export({ format, type: 'pkcs8' })),
    publicPart: publicKey.export({ format, type: 'spki' }).toString(),
  };
}

async function generatePair({ curve }: Algorithm): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  if (curve !== undefined) return generate('ec', { namedCurve: curve.openssl });
  return generate('rsa', { modulusLength: RSA_BITS });
}

function generateSecret({ hashBytes }: Algorithm, format: KeyFormat, about: object): GeneratedKey {
  const secret = randomBytes(hashBytes);
  const jwk = () => Buffer.from(jwkText({ kty: 'oct', k: secret.toString('base64url'), ...about }));
  return { privatePart: format === 'jwk' ? jwk() : secret, publicPart: undefined };
}

function jwkText(jwk: object): string {
  return `${JSON.stringify(jwk, null, 2)}\n`;
}
