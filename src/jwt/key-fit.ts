// Decides whether a key may be used with an algorithm: by its material, and by the members of a JWK that restrict its
// use. Unsafe keys fit no algorithm.
import type { KeyObject } from 'node:crypto';
import { FilingsError } from '../errors.ts';
import { quoted } from '../text.ts';
import { ALGORITHMS, type Algorithm, CURVES, type Family } from './algorithms.ts';
import type { JwtKey, Purpose } from './keys.ts';

/** RFC 7518, sections 3.3 and 3.5. */
const MIN_RSA_BITS = 2048;
/** OpenSSL does not verify with larger keys. */
const MAX_RSA_BITS = 16_384;
/** Which algorithms each `keyType` of a {@link JwtKey} is for. Keys of other types fit none. */
const FAMILIES: Readonly<Record<string, readonly Family[]>> = {
  rsa: ['RS', 'PS'],
  'rsa-pss': ['PS'],
  ec: ['ES'],
  secret: ['HS'],
};

export function findKeyFault(key: JwtKey, algorithm: Algorithm, purpose: Purpose): string | undefined {
  return findMaterialFault(key, algorithm) ?? findJwkFault(key, algorithm, purpose);
}

/**
 * Returns `wanted`, or by default the first that fits. The error says why the nearest algorithm does not fit, because
 * that is what the user can do something about. The nearest fits the material but is forbidden by the JWK, or else is
 * one of the key's families.
 */
export function chooseAlgorithm(key: JwtKey, purpose: Purpose, wanted?: Algorithm): Algorithm {
  const candidates = wanted === undefined ? ALGORITHMS : [wanted];
  const fitting = candidates.find((algorithm) => findKeyFault(key, algorithm, purpose) === undefined);
  if (fitting !== undefined) return fitting;
  const nearest =
    candidates.find((algorithm) => findMaterialFault(key, algorithm) === undefined) ??
    candidates.find(({ family }) => FAMILIES[key.keyType]?.includes(family)) ??
    (candidates[0] as Algorithm);
  const reason = findKeyFault(key, nearest, purpose) ?? 'cannot be used';
  throw new FilingsError('config', reason, { subject: { name: key.name }, hint: key.form?.hint });
}

function findMaterialFault(key: JwtKey, algorithm: Algorithm): string | undefined {
  const { keyType, keyObject } = key;
  const { name, family, curve } = algorithm;
  const families = FAMILIES[keyType];
  const keyPhrase = `the key is ${describeKey(key)}`;
  if (families === undefined) return `${keyPhrase}, which the service does not accept`;
  if (!families.includes(family) || (curve && curve !== getCurve(keyObject)))
    return `${keyPhrase}, which cannot be used with ${name}`;
  if (keyType === 'secret') return findSecretFault(key, algorithm);
  if (keyType === 'ec') return undefined;
  return findRsaFault(key, keyPhrase) ?? findPssFault(key, algorithm);
}

function describeKey({ keyType, keyObject }: JwtKey): string {
  if (keyType === 'secret') return `a secret of ${keyObject.symmetricKeySize} bytes`;
  if (keyType === 'ec') return `an EC key on ${getCurve(keyObject)}`;
  if (!keyType.startsWith('rsa')) return `a key of type ${keyType}${keyType.startsWith('ed') ? ' (EdDSA)' : ''}`;
  return `an ${keyType.toUpperCase()} key of ${keyObject.asymmetricKeyDetails?.modulusLength} bits`;
}

function getCurve(key: KeyObject): string {
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  return CURVES[namedCurve] ?? namedCurve;
}

/**
 * RFC 8017, section 3.1: with a public exponent of 1, the signature is the padded hash itself, which anybody can
 * compute. An even exponent, which makes no RSA key at all, gets the same message.
 */
function findRsaFault({ keyObject }: JwtKey, keyPhrase: string): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = keyObject.asymmetricKeyDetails ?? {};
  if (modulusLength < MIN_RSA_BITS) return `${keyPhrase}, and fewer than ${MIN_RSA_BITS} bits are not safe`;
  if (modulusLength > MAX_RSA_BITS) return `${keyPhrase}, and more than ${MAX_RSA_BITS} bits are not supported`;
  if (publicExponent >= 3n && publicExponent % 2n === 1n) return undefined;
  return `${keyPhrase}, and with its public exponent of ${publicExponent} anybody could sign`;
}

/**
 * RFC 7518, section 3.5, requires the same hash for the message and for MGF1, and a salt as long as that hash. The
 * restrictions are in `pss`, because `keyObject` was converted to an ordinary RSA key, which has none.
 */
function findPssFault({ pss }: JwtKey, { name, hashBytes }: Algorithm): string | undefined {
  const { hashAlgorithm, mgf1HashAlgorithm, saltLength = 0 } = pss ?? {};
  // An RSA-PSS key need not have restrictions.
  if (hashAlgorithm === undefined) return undefined;
  const isSameHash = [hashAlgorithm, mgf1HashAlgorithm].every((hash) => hash === `sha${hashBytes * 8}`);
  if (isSameHash && saltLength <= hashBytes) return undefined;
  return `the key is restricted to ${hashAlgorithm}, MGF1 with ${mgf1HashAlgorithm} and a salt of ${saltLength} bytes or more, so it cannot be used with ${name}`;
}

function findSecretFault({ keyObject, form }: JwtKey, { name, hashBytes }: Algorithm): string | undefined {
  // If a public key were accepted as a secret, whoever knows it could sign tokens (RFC 8725, section 2.1).
  if (form) return `the secret is ${form.contents}, not an HMAC secret`;
  const { symmetricKeySize: bytes = 0 } = keyObject;
  return bytes >= hashBytes
    ? undefined
    : `${name} needs a secret of at least ${hashBytes} bytes, and this one has ${bytes}`;
}

/** RFC 7517, sections 4.2 to 4.4. */
function findJwkFault({ use, keyOps, alg }: JwtKey, { name }: Algorithm, purpose: Purpose): string | undefined {
  if (use !== undefined && use !== 'sig') return `the JWK is not for signatures: its use is ${quoted(use)}`;
  if (keyOps?.includes(purpose) === false)
    return `the JWK may not be used to ${purpose}: its key_ops do not include it`;
  return alg === undefined || alg === name ? undefined : `the JWK is for ${quoted(alg)} only, not for ${name}`;
}
