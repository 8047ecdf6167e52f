import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { errnoOf, FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { decodeBase64url, readJsonObject } from './strict-token.ts';

/** What a JWK allows itself to be used for (RFC 7517 section 4). */
export interface KeyLimits {
  readonly use?: string | undefined;
  readonly keyOps?: readonly string[] | undefined;
  readonly alg?: string | undefined;
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
 * @throws FilingsError `config`: not a JWK, or one that node:crypto can't take; never with a word of its text
 */
export function readJwk(bytes: Buffer, what: string): Jwk {
  const unfit = (why: string) => new FilingsError('config', `${what}: the JWK cannot be used: ${why}`);
  const jwk = readJsonObject(bytes);
  if (typeof jwk === 'string') throw unfit(`it ${jwk}`);
  const text = (name: string): string | undefined => {
    const value = jwk[name];
    if (value === undefined || typeof value === 'string') return value;
    throw unfit(`its "${name}" is not a string`);
  };
  const [kty, use, alg, kid] = [text('kty'), text('use'), text('alg'), text('kid')];
  const keyOps = jwk.key_ops;
  if (kty === undefined) throw unfit('its "kty" is missing');
  if (keyOps !== undefined && !(Array.isArray(keyOps) && keyOps.every((op) => typeof op === 'string'))) {
    throw unfit('its "key_ops" is not a list of strings');
  }
  const keyObject = kty === 'oct' ? createSecretKey(binaryMember(jwk, 'k', unfit)) : asymmetricKey(jwk, kty, unfit);
  return { keyObject, ...(kid !== undefined && { kid }), limits: { use, alg, keyOps } };
}

type Unfit = (why: string) => FilingsError;

function asymmetricKey(jwk: JsonObject, kty: string, unfit: Unfit): KeyObject {
  const isPrivate = Object.hasOwn(jwk, 'd');
  const [known, secret] = BINARY_MEMBERS[kty] ?? [[], []];
  const longest = CURVE_BYTES[String(jwk.crv)] ?? LONGEST_BYTES;
  for (const name of isPrivate ? [...known, ...secret] : known) {
    if (binaryMember(jwk, name, unfit).length > longest) throw unfit(`its "${name}" is too long`);
  }
  try {
    const key = { key: jwk as JsonWebKey, format: 'jwk' } as const;
    return isPrivate ? createPrivateKey(key) : createPublicKey(key);
  } catch (cause) {
    // Some of node's messages quote the value at fault, which may be private.
    throw unfit(errnoOf(cause) ?? 'unknown reason');
  }
}

function binaryMember(jwk: JsonObject, name: string, unfit: Unfit): Buffer {
  const text = Object.hasOwn(jwk, name) ? jwk[name] : undefined;
  const bytes = typeof text === 'string' ? decodeBase64url(text) : undefined;
  if (bytes && bytes.length > 0) return bytes;
  throw unfit(`its "${name}" is ${text === undefined ? 'missing' : 'not canonical base64url'}`);
}
