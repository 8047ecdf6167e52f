import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/**
 * New keys that have no tie to what made them. Node's synchronous generator locks its keys once more as it is collected: should that
 * be in the middle of an export of one as a JWK, which holds the same lock, the process stands still for ever (Node 20).
 */
export function keyPair(type: string, options: object = {}): Pair {
  const encodings = {
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'pem', type: 'spki' },
  };
  // Node's types have one signature a type of keys.
  const generate = generateKeyPairSync as (type: string, options: object) => Record<keyof Pair, string>;
  const { privateKey, publicKey } = generate(type, { ...options, ...encodings });
  return { privateKey: createPrivateKey(privateKey), publicKey: createPublicKey(publicKey) };
}

export function ecPair(namedCurve: string): Pair {
  return keyPair('ec', { namedCurve });
}

/** RSA keys in PKCS#8, made once: to find their primes takes long. */
const RSA_KEYS = JSON.parse(readFileSync(join(import.meta.dirname, 'rsa-keys.json'), 'utf8'));

/** Of 2048 bits: `rsa`, `other`, and for RSA-PSS `pss` and with limits `pss256`, `pss512`; `weak` has 1024, `long` 3072. */
export function rsaPair(name: string): Pair {
  const privateKey = createPrivateKey({ key: Buffer.from(RSA_KEYS[name], 'base64'), format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
