import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { FilingsError } from '../../errors.ts';
import { decodeBase64url } from '../base64url.ts';
import { type JsonObject, readJsonObject } from '../token/strict-json.ts';

/** What a JWK allows itself to be used for (RFC 7517 section 4). */
export interface KeyLimits {
  readonly use?: string;
  readonly keyOps?: readonly string[];
  readonly alg?: string;
}

export interface Jwk {
  readonly keyObject: KeyObject;
  readonly kid?: string;
  readonly limits: KeyLimits;
}

/**
 * Reads a JWK: RSA, EC, OKP (to say that the service does not take it) or `oct`.
 *
 * @throws FilingsError `config`: not a JWK, a set of them, or one that node:crypto can't take;
 * never with a word of its text
 */
export function readJwk(bytes: Buffer, what: string): Jwk {
  const jwk = readJsonObject(bytes);
  if (typeof jwk === 'string') throw new FilingsError('config', `${what}: it looks like a JWK, but ${jwk}`);
  if (Array.isArray(jwk.keys)) {
    throw new FilingsError('config', `${what}: it is a JWK Set, not one key`, {
      hint: 'put the one key you mean, an element of "keys", into a file of its own',
    });
  }
  if (jwk.kty === undefined) throw new FilingsError('config', `${what}: it is JSON, but no JWK: "kty" is missing`);
  return {
    keyObject: jwk.kty === 'oct' ? octKey(jwk, what) : asymmetricKey(jwk, what),
    ...(jwk.kid === undefined ? {} : { kid: textMember(jwk, 'kid', what) }),
    limits: readLimits(jwk, what),
  };
}

function octKey(jwk: JsonObject, what: string): KeyObject {
  const secret = typeof jwk.k === 'string' ? decodeBase64url(jwk.k) : undefined;
  if (secret === undefined) throw new FilingsError('config', `${what}: the JWK's "k" is not canonical base64url`);
  return createSecretKey(secret);
}

function asymmetricKey(jwk: JsonObject, what: string): KeyObject {
  try {
    const key = { key: jwk as JsonWebKey, format: 'jwk' } as const;
    return 'd' in jwk ? createPrivateKey(key) : createPublicKey(key);
  } catch (cause) {
    // Some of node's messages quote the value at fault, which may be private.
    const code = (cause as { code?: string }).code ?? 'unknown reason';
    const partial = jwk.kty === 'RSA' && 'd' in jwk && !('p' in jwk);
    const hint = partial ? 'a private RSA key needs p, q, dp, dq and qi as well' : undefined;
    throw new FilingsError('config', `${what}: the JWK can't be taken (${code})`, hint === undefined ? {} : { hint });
  }
}

function readLimits(jwk: JsonObject, what: string): KeyLimits {
  const keyOps = jwk.key_ops;
  if (keyOps !== undefined && !(Array.isArray(keyOps) && keyOps.every((op) => typeof op === 'string'))) {
    throw new FilingsError('config', `${what}: the JWK's "key_ops" is not a list of strings`);
  }
  return {
    ...(jwk.use === undefined ? {} : { use: textMember(jwk, 'use', what) }),
    ...(jwk.alg === undefined ? {} : { alg: textMember(jwk, 'alg', what) }),
    ...(keyOps === undefined ? {} : { keyOps: keyOps as string[] }),
  };
}

function textMember(jwk: JsonObject, name: string, what: string): string {
  const value = jwk[name];
  if (typeof value !== 'string') throw new FilingsError('config', `${what}: the JWK's "${name}" is not a string`);
  return value;
}
