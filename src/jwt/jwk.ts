import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { decodeBase64url, readJsonObject } from './strict-token.ts';

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

/** The members that hold numbers or points (RFC 7518 section 6, RFC 8037 section 2); the second ones are private. */
const BINARY_MEMBERS: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  RSA: [
    ['n', 'e'],
    ['d', 'p', 'q', 'dp', 'dq', 'qi'],
  ],
  EC: [['x', 'y'], ['d']],
  OKP: [['x'], ['d']],
};
/** The longest member of a key on a curve; Node dies of exporting a longer `d`. Bytes. */
const CURVE_BYTES: Readonly<Record<string, number>> = { 'P-256': 32, 'P-384': 48, 'P-521': 66 };
/** Of an RSA key of 16,384 bits: with more, signing takes minutes. */
const LONGEST_BYTES = 2048;

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
  if (typeof jwk.kty !== 'string')
    throw new FilingsError('config', `${what}: it is JSON, but no JWK: "kty" is missing`);
  const [use, alg, kid] = ['use', 'alg', 'kid'].map((name) => textMember(jwk, name, what));
  const keyOps = jwk.key_ops;
  if (keyOps !== undefined && !(Array.isArray(keyOps) && keyOps.every((op) => typeof op === 'string'))) {
    throw new FilingsError('config', `${what}: the JWK's "key_ops" is not a list of strings`);
  }
  return {
    keyObject: jwk.kty === 'oct' ? createSecretKey(binaryMember(jwk, 'k', what)) : asymmetricKey(jwk, what),
    ...(kid !== undefined && { kid }),
    limits: {
      ...(use !== undefined && { use }),
      ...(alg !== undefined && { alg }),
      ...(keyOps !== undefined && { keyOps }),
    },
  };
}

function asymmetricKey(jwk: JsonObject, what: string): KeyObject {
  const isPrivate = Object.hasOwn(jwk, 'd');
  const [known, secret] = BINARY_MEMBERS[String(jwk.kty)] ?? [[], []];
  const longest = CURVE_BYTES[String(jwk.crv)] ?? LONGEST_BYTES;
  for (const name of isPrivate ? [...known, ...secret] : known) {
    if (binaryMember(jwk, name, what).length > longest) throw unfit(what, `its "${name}" is too long`);
  }
  if (jwk.oth !== undefined) throw unfit(what, 'it has more than two primes');
  try {
    const key = { key: jwk as JsonWebKey, format: 'jwk' } as const;
    return isPrivate ? createPrivateKey(key) : createPublicKey(key);
  } catch (cause) {
    // Some of node's messages quote the value at fault, which may be private.
    throw unfit(what, (cause as { code?: string }).code ?? 'unknown reason');
  }
}

function binaryMember(jwk: JsonObject, name: string, what: string): Buffer {
  const text = Object.hasOwn(jwk, name) ? jwk[name] : undefined;
  if (text === undefined) {
    const hint = jwk.kty === 'RSA' ? 'a private RSA key needs p, q, dp, dq and qi as well' : undefined;
    throw unfit(what, `its "${name}" is missing`, hint);
  }
  const bytes = typeof text === 'string' ? decodeBase64url(text) : undefined;
  if (bytes === undefined) throw unfit(what, `its "${name}" is not canonical base64url`);
  if (bytes.length === 0) throw unfit(what, `its "${name}" is empty`);
  return bytes;
}

function unfit(what: string, why: string, hint?: string): FilingsError {
  return new FilingsError('config', `${what}: the JWK cannot be used: ${why}`, hint === undefined ? {} : { hint });
}

function textMember(jwk: JsonObject, name: string, what: string): string | undefined {
  const value = jwk[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new FilingsError('config', `${what}: the JWK's "${name}" is not a string`);
}
