import { createPublicKey } from 'node:crypto';
import { FilingsError } from '../errors.ts';
import { quoted } from '../text.ts';
import { ALGORITHMS, type Algorithm, type Family } from './algorithms.ts';
import { type JwtKey, type Purpose, rsaWeakness } from './keys.ts';
import type { Objection } from './strict-token.ts';

/** RFC 7518 section 3.3. */
const SHORTEST_RSA_BITS = 2048;
const FAMILIES: Readonly<Record<string, readonly Family[]>> = { rsa: ['RS', 'PS'], 'rsa-pss': ['PS'], ec: ['ES'] };
const FAMILY_KEYS = { RS: 'an RSA key', PS: 'an RSA key', ES: 'an EC key', HS: 'a shared secret' } as const;

/** Why a key can't, or may not, be used with an algorithm; undefined when it may. */
export function keyFault(key: JwtKey, algorithm: Algorithm, purpose: Purpose): Objection | undefined {
  const reason = materialFault(key, algorithm) ?? limitsFault(key, algorithm, purpose);
  return reason === undefined ? undefined : { reason };
}

/**
 * Checks that a key fits an algorithm, or any at all; answers with the one to use.
 *
 * @throws FilingsError `config`: with the reason
 */
export function requireFit(key: JwtKey, purpose: Purpose, wanted?: Algorithm): Algorithm {
  const fits = (algorithm: Algorithm) => keyFault(key, algorithm, purpose) === undefined;
  const algorithm = wanted ?? ALGORITHMS.find(fits) ?? nearestAlgorithm(key);
  const fault = keyFault(key, algorithm, purpose);
  if (fault === undefined) return algorithm;
  throw new FilingsError('config', `${key.what}: ${fault.reason}`);
}

/** The algorithm whose refusal tells most about a key that fits none. */
function nearestAlgorithm(key: JwtKey): Algorithm {
  const families = key.kind === undefined ? ['HS'] : (FAMILIES[key.kind] ?? []);
  const near = ALGORITHMS.filter(({ family }) => families.includes(family));
  return near.find(({ curve }) => curve && curve.openssl === curveOf(key)) ?? near[0] ?? (ALGORITHMS[0] as Algorithm);
}

/** What a key is, with its article: `an RSA key of 2048 bits`. */
function describeKey(key: JwtKey): string {
  const { kind, keyObject } = key;
  if (kind === undefined) return `a secret of ${keyObject.symmetricKeySize} bytes`;
  if (kind.startsWith('rsa')) return `an ${kind.toUpperCase()} key of ${modulusBits(key)} bits`;
  if (kind !== 'ec') return `a key of type ${kind}${kind.startsWith('ed') ? ' (EdDSA)' : ''}`;
  const curve = curveOf(key);
  return `an EC key on ${ALGORITHMS.find((one) => one.curve?.openssl === curve)?.curve?.jose ?? curve}`;
}

function curveOf({ kind, keyObject }: JwtKey): string | undefined {
  return kind === 'ec' ? keyObject.asymmetricKeyDetails?.namedCurve : undefined;
}

function modulusBits({ keyObject }: JwtKey): number {
  return keyObject.asymmetricKeyDetails?.modulusLength ?? 0;
}

function materialFault(key: JwtKey, algorithm: Algorithm): string | undefined {
  const { name, family, curve } = algorithm;
  const families = key.kind === undefined ? (['HS'] as const) : FAMILIES[key.kind];
  const is = `the key is ${describeKey(key)}`;
  if (families === undefined) return `${is}, which the service does not take`;
  if (!families.includes(family as 'HS')) return `${name} wants ${FAMILY_KEYS[family]}, and ${is}`;
  if (key.kind === undefined) return secretFault(key.keyObject.export(), algorithm);
  if (curve) return curve.openssl === curveOf(key) ? undefined : `${name} wants a key on ${curve.jose}, and ${is}`;
  if (modulusBits(key) < SHORTEST_RSA_BITS) return `${is}, and fewer than ${SHORTEST_RSA_BITS} are not safe (RFC 7518)`;
  const weakness = rsaWeakness(key.keyObject);
  return weakness === undefined ? pssFault(key, algorithm) : `${is}, and ${weakness}`;
}

/** An RSA-PSS key without restrictions names no hash. */
function pssFault({ pss }: JwtKey, { name, hash, hashBytes }: Algorithm): string | undefined {
  const { hashAlgorithm, mgf1HashAlgorithm = hashAlgorithm, saltLength = 0 } = pss ?? {};
  const fits = hashAlgorithm === hash && mgf1HashAlgorithm === hash && saltLength <= hashBytes;
  if (hashAlgorithm === undefined || fits) return undefined;
  return `the key restricts itself to ${hashAlgorithm} and a salt of ${saltLength} bytes: ${name} is another`;
}

function secretFault(secret: Buffer, { name, hashBytes }: Algorithm): string | undefined {
  if (isKey(secret)) return 'the secret is a key or a certificate: whoever knows its public part could sign';
  if (secret.length >= hashBytes) return undefined;
  return `${name} wants a secret of at least ${hashBytes} bytes, and this has ${secret.length} (RFC 7518 section 3.2)`;
}

/** Whether a would-be secret is a key that is known to others (RFC 8725 section 2.1): PEM, a JWK, of SSH, DER, or hex or base64 of these. */
function isKey(secret: Buffer): boolean {
  const bare = secret.toString('latin1').replace(/\s/g, '');
  return [secret, Buffer.from(bare, 'base64'), Buffer.from(bare, 'hex')].some((bytes) => {
    const text = bytes.toString('latin1');
    if (/-----BEGIN |^\s*\{.*"kty"|^(?:ssh|ecdsa)-\S+ AAAA/s.test(text)) return true;
    return bytes[0] === 0x30 && (['spki', 'pkcs1'] as const).some((type) => isPublicKey(bytes, type));
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
function limitsFault({ limits }: JwtKey, { name }: Algorithm, purpose: Purpose): string | undefined {
  const { use, keyOps, alg } = limits ?? {};
  if (use !== undefined && use !== 'sig') return `the JWK is not for signatures: its "use" is ${quoted(use)}`;
  if (keyOps !== undefined && !keyOps.includes(purpose))
    return `the JWK may not be used to ${purpose}: its "key_ops" do not name that`;
  return alg === undefined || alg === name ? undefined : `the JWK is for ${quoted(alg)} only, not for ${name}`;
}
