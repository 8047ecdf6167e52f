import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { errnoOf, FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { JwtKey } from './keys.ts';
import { decodeBase64url, NOT_CANONICAL, readJsonObject, textFault } from './token.ts';

/** The members that hold numbers, points or a secret (RFC 7518 section 6, RFC 8037 section 2). */
const BINARY_MEMBERS = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi', 'x', 'y', 'k'];
/** The longest member of a key on a curve; Node dies of exporting a longer `d`. Bytes. */
const CURVE_BYTES: Readonly<Record<string, number>> = { 'P-256': 32, 'P-384': 48, 'P-521': 66 };
/** Of an RSA key of 16,384 bits: with more, signing takes minutes. */
const LONGEST_BYTES = 2048;

/**
 * Reads a JWK: RSA, EC, OKP (to say that the service does not take it) or `oct`.
 *
 * @throws FilingsError `config`: not a JWK, or one that node:crypto can't take; never with a word of its text
 */
export function readJwk(bytes: Buffer, what: string): Pick<JwtKey, 'keyObject' | 'kid' | 'use' | 'keyOps' | 'alg'> {
  const unfit = (why: string) => new FilingsError('config', `${what}: the JWK cannot be used: ${why}`);
  const jwk = readJsonObject(bytes);
  if (typeof jwk === 'string') throw unfit(`it ${jwk}`);
  const fault = textFault(jwk, ['kty', 'use', 'alg', 'kid']) ?? binaryFault(jwk);
  if (fault !== undefined) throw unfit(fault);
  const { kty, use, alg, kid } = jwk as Readonly<Record<string, string | undefined>>;
  const keyOps = jwk.key_ops;
  if (kty === undefined) throw unfit('kty is missing');
  if (keyOps !== undefined && !(Array.isArray(keyOps) && keyOps.every((op) => typeof op === 'string')))
    throw unfit('key_ops is not a list of strings');
  try {
    const keyObject = keyObjectOf(jwk);
    // What may sign may have its signatures verified.
    const further = keyObject.type === 'private' && keyOps?.includes('sign') ? ['verify'] : [];
    return { keyObject, kid, use, alg, keyOps: keyOps && [...keyOps, ...further] };
  } catch (cause) {
    // Some of node's messages quote the value at fault, which may be private.
    throw unfit(errnoOf(cause) ?? 'unknown reason');
  }
}

function keyObjectOf(jwk: JsonObject): KeyObject {
  if (jwk.kty === 'oct') return createSecretKey(String(jwk.k ?? ''), 'base64url');
  const key = { key: jwk as JsonWebKey, format: 'jwk' } as const;
  return jwk.d === undefined ? createPublicKey(key) : createPrivateKey(key);
}

function binaryFault(jwk: JsonObject): string | undefined {
  const longest = CURVE_BYTES[String(jwk.crv)] ?? LONGEST_BYTES;
  for (const name of BINARY_MEMBERS.filter((member) => jwk[member] !== undefined)) {
    const bytes = decodeBase64url(String(jwk[name]));
    if (bytes === undefined) return `${name} ${NOT_CANONICAL}`;
    if (jwk.kty !== 'oct' && bytes.length > longest) return `${name} is too long`;
  }
  return undefined;
}
