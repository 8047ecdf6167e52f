import { createPublicKey } from 'node:crypto';
import { FilingsError } from '../errors.ts';
import { quoted } from '../text.ts';
import { ALGORITHMS, type Algorithm, type Family } from './algorithms.ts';
import { type JwtKey, type Purpose, rsaWeakness } from './keys.ts';

/** RFC 7518 section 3.3. */
const SHORTEST_RSA_BITS = 2048;
const FAMILIES: Readonly<Record<string, readonly Family[]>> = {
  rsa: ['RS', 'PS'],
  'rsa-pss': ['PS'],
  ec: ['ES'],
  secret: ['HS'],
};
const FAMILY_KEYS = { RS: 'an RSA key', PS: 'an RSA key', ES: 'an EC key', HS: 'a shared secret' } as const;
/** By OpenSSL's names. */
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

/** Why a key can't, or may not, be used with an algorithm; undefined when it may. */
export function keyFault(key: JwtKey, algorithm: Algorithm, purpose: Purpose): string | undefined {
  return materialFault(key, algorithm) ?? limitsFault(key, algorithm, purpose);
}

/**
 * Checks that a key fits an algorithm, or any at all; answers with the one to use.
 *
 * @throws FilingsError `config`: with the reason that tells most
 */
export function requireFit(key: JwtKey, purpose: Purpose, wanted?: Algorithm): Algorithm {
  const candidates = wanted === undefined ? ALGORITHMS : [wanted];
  const fitting = candidates.find((algorithm) => keyFault(key, algorithm, purpose) === undefined);
  if (fitting !== undefined) return fitting;
  const nearest =
    candidates.find((algorithm) => materialFault(key, algorithm) === undefined) ??
    candidates.find(({ family }) => FAMILIES[key.kind]?.includes(family)) ??
    (candidates[0] as Algorithm);
  throw new FilingsError('config', `${key.what}: ${keyFault(key, nearest, purpose)}`);
}

function materialFault(key: JwtKey, algorithm: Algorithm): string | undefined {
  const { kind, keyObject } = key;
  const { name, family, curve } = algorithm;
  const families = FAMILIES[kind];
  const is = `the key is ${described(key)}`;
  if (families === undefined) return `${is}, which the service does not take`;
  if (!families.includes(family)) return `${name} wants ${FAMILY_KEYS[family]}, and ${is}`;
  if (family === 'HS') return secretFault(keyObject.export(), algorithm);
  if (curve) return curve === curveOf(key) ? undefined : `${name} wants a key on ${curve}, and ${is}`;
  if (bitsOf(key) < SHORTEST_RSA_BITS) return `${is}, and fewer than ${SHORTEST_RSA_BITS} are not safe (RFC 7518)`;
  const weakness = rsaWeakness(keyObject);
  return weakness === undefined ? pssFault(key, algorithm) : `${is}, and ${weakness}`;
}

/** What a key is, with its article: `an RSA key of 2048 bits`. */
function described(key: JwtKey): string {
  const { kind, keyObject } = key;
  if (kind === 'secret') return `a secret of ${keyObject.symmetricKeySize} bytes`;
  if (kind === 'ec') return `an EC key on ${curveOf(key)}`;
  if (kind.startsWith('rsa')) return `an ${kind.toUpperCase()} key of ${bitsOf(key)} bits`;
  return `a key of type ${kind}${kind.startsWith('ed') ? ' (EdDSA)' : ''}`;
}

function curveOf({ keyObject }: JwtKey): string {
  const { namedCurve = '' } = keyObject.asymmetricKeyDetails ?? {};
  return CURVES[namedCurve] ?? namedCurve;
}

function bitsOf({ keyObject }: JwtKey): number {
  return keyObject.asymmetricKeyDetails?.modulusLength ?? 0;
}

/** An RSA-PSS key without restrictions names no hash. */
function pssFault({ pss }: JwtKey, { name, hash, hashBytes }: Algorithm): string | undefined {
  const { hashAlgorithm, mgf1HashAlgorithm, saltLength = 0 } = pss ?? {};
  if (hashAlgorithm === undefined) return undefined;
  if (hashAlgorithm === hash && mgf1HashAlgorithm === hash && saltLength <= hashBytes) return undefined;
  return `the key restricts itself to ${hashAlgorithm} and a salt of ${saltLength} bytes: ${name} is another`;
}

function secretFault(secret: Buffer, { name, hashBytes }: Algorithm): string | undefined {
  if (isKey(secret)) return 'the secret is a key or a certificate: whoever knows its public part could sign';
  if (secret.length >= hashBytes) return undefined;
  return `${name} wants a secret of at least ${hashBytes} bytes, and this has ${secret.length} (RFC 7518 section 3.2)`;
}

/** Whether a would-be secret is a key that others know (RFC 8725 section 2.1): PEM, JWK, SSH, DER, or hex or base64 of these. */
function isKey(secret: Buffer): boolean {
  const bare = secret.toString('latin1').replace(/\s/g, '');
  return [secret, Buffer.from(bare, 'base64'), Buffer.from(bare, 'hex')].some((bytes) => {
    const text = bytes.toString('latin1');
    if (/-----BEGIN |^\s*\{.*"kty"|^(?:ssh|ecdsa)-\S+ AAAA/s.test(text)) return true;
    return bytes[0] === 0x30 && (isPublicKey(bytes, 'spki') || isPublicKey(bytes, 'pkcs1'));
  });
}

function isPublicKey(key: Buffer, type: 'spki' | 'pkcs1'): boolean {
  try {
    return createPublicKey({ key, format: 'der', type }).type === 'public';
  } catch {
    return false;
  }
}

/** RFC 7517 sections 4.2 to 4.4. */
function limitsFault({ use, keyOps, alg }: JwtKey, { name }: Algorithm, purpose: Purpose): string | undefined {
  if (use !== undefined && use !== 'sig') return `the JWK is not for signatures: its use is ${quoted(use)}`;
  if (keyOps?.includes(purpose) === false) return `the JWK may not be used to ${purpose}: its key_ops do not name that`;
  return alg === undefined || alg === name ? undefined : `the JWK is for ${quoted(alg)} only, not for ${name}`;
}
