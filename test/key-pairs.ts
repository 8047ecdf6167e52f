import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/**
 * Generates a key pair and imports it again. A key of Node's synchronous generator locks a mutex when it is collected;
 * during an export of the key as a JWK, which holds the same mutex, the process would hang forever (Node 20).
 */
export function keyPair(type: string, options: object = {}): Pair {
  const encodings = {
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'pem', type: 'spki' },
  };
  // Node's types have one signature per key type.
  const generate = generateKeyPairSync as (type: string, options: object) => Record<keyof Pair, string>;
  const { privateKey, publicKey } = generate(type, { ...options, ...encodings });
  return { privateKey: createPrivateKey(privateKey), publicKey: createPublicKey(publicKey) };
}

export function ecPair(namedCurve: string): Pair {
  return keyPair('ec', { namedCurve });
}

/** RSA keys in PKCS#8. They are stored, because generating RSA keys takes long. */
const RSA_KEYS = JSON.parse(readFileSync(join(import.meta.dirname, 'rsa-keys.json'), 'utf8'));

/**
 * Returns a stored key. `rsa` and `other` have 2048 bits, as have `pss`, and `pss256` and `pss512` with restrictions,
 * for RSA-PSS; `weak` has 1024 and `long` 3072.
 */
export function rsaPair(name: string): Pair {
  const privateKey = createPrivateKey({ key: Buffer.from(RSA_KEYS[name], 'base64'), format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
