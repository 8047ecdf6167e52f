import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

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
