import { createPublicKey } from 'node:crypto';
import { FilingsError } from '../errors.ts';
import { quoted } from '../text.ts';
import { ALGORITHMS, type Algorithm, type Family, findAlgorithm } from './algorithms.ts';
import { type JwtKey, rsaWeakness } from './keys.ts';
import type { Fault } from './strict-token.ts';

export type Purpose = 'sign' | 'verify';

/** RFC 7518 section 3.3. */
const SHORTEST_RSA_BITS = 2048;
const FAMILIES: Readonly<Record<string, readonly Family[]>> = { rsa: ['RS', 'PS'], 'rsa-pss': ['PS'], ec: ['ES'] };
const FAMILY_KEYS: Readonly<Record<Family, string>> = {
  RS: 'an RSA key',
  PS: 'an RSA key',
  ES: 'an EC key',
  HS: 'a shared secret',
};

/** Why a key can't, or may not, be used with an algorithm; undefined when it may. */
export function keyFault(key: JwtKey, algorithm: Algorithm, purpose: Purpose): Fault | undefined {
  return (
    (key.kind === undefined ? secretFault(key, algorithm) : asymmetricFault(key, key.kind, algorithm)) ??
    limitsFault(key, algorithm, purpose)
  );
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
  throw new FilingsError(
    'config',
    `${key.what}: ${fault.reason}`,
    fault.hint === undefined ? {} : { hint: fault.hint },
  );
}

/** What a key is, with its article: `an RSA key of 2048 bits`. */
function describeKey({ kind, keyObject }: JwtKey): string {
  if (kind === undefined) return `a secret of ${keyObject.symmetricKeySize} bytes`;
  if (kind === 'ec') return `an EC key on ${curveName(curveOf(keyObject))}`;
  if (!kind.startsWith('rsa')) return `a key of type ${kind}`;
  return `an ${kind === 'rsa' ? 'RSA' : 'RSA-PSS'} key of ${keyObject.asymmetricKeyDetails?.modulusLength} bits`;
}

function curveOf({ asymmetricKeyDetails }: JwtKey['keyObject']): string | undefined {
  return asymmetricKeyDetails?.namedCurve;
}

/** The algorithm whose refusal tells most about a key that fits none. */
function nearestAlgorithm({ kind, keyObject, limits }: JwtKey): Algorithm {
  const families = kind === undefined ? ['HS'] : (FAMILIES[kind] ?? []);
  const near = ALGORITHMS.filter(({ family }) => families.includes(family));
  const onCurve = kind === 'ec' ? near.find(({ curve }) => curve?.openssl === curveOf(keyObject)) : undefined;
  return findAlgorithm(limits?.alg ?? '') ?? onCurve ?? near[0] ?? (ALGORITHMS[0] as Algorithm);
}

function asymmetricFault(key: JwtKey, kind: string, algorithm: Algorithm): Fault | undefined {
  const { name, family, curve } = algorithm;
  const families = FAMILIES[kind];
  if (families === undefined) {
    const eddsa = kind.startsWith('ed') ? ' (EdDSA)' : '';
    return {
      reason: `the key is ${describeKey(key)}${eddsa}, which the service does not take`,
      hint: 'it takes RSA keys, EC keys on P-256, P-384 and P-521, and shared secrets',
    };
  }
  if (family === 'HS') {
    return {
      reason: `${name} is made with a shared secret, and the key is ${describeKey(key)}`,
      hint: 'a token that says HS where a public key is expected may be a forgery that takes the public key for the secret',
    };
  }
  if (!families.includes(family))
    return { reason: `${name} wants ${FAMILY_KEYS[family]}, and the key is ${describeKey(key)}` };
  if (kind === 'ec') return curveFault(key, name, curve);
  if ((key.keyObject.asymmetricKeyDetails?.modulusLength ?? 0) < SHORTEST_RSA_BITS) {
    return { reason: `the key is ${describeKey(key)}, and fewer than ${SHORTEST_RSA_BITS} are not safe (RFC 7518)` };
  }
  const weakness = rsaWeakness(key.keyObject);
  if (weakness !== undefined) return { reason: `the key is ${describeKey(key)}, and ${weakness}` };
  return pssFault(key, algorithm);
}

function curveFault(key: JwtKey, name: string, curve: Algorithm['curve']): Fault | undefined {
  const own = curveOf(key.keyObject);
  if (curve?.openssl === own) return undefined;
  const fitting = ALGORITHMS.find((other) => other.curve?.openssl === own);
  const hint = fitting === undefined ? {} : { hint: `that curve goes with ${fitting.name}` };
  return { reason: `${name} wants a key on ${curve?.jose}, and the key is ${describeKey(key)}`, ...hint };
}

function pssFault({ pss }: JwtKey, { name, hash, hashBytes }: Algorithm): Fault | undefined {
  if (pss === undefined || (pss.hash === hash && pss.mgf1Hash === hash && pss.saltLength <= hashBytes))
    return undefined;
  const { hash: own, mgf1Hash, saltLength } = pss;
  return {
    reason: `the key restricts itself to ${own}, MGF1 with ${mgf1Hash} and a salt of ${saltLength} bytes: ${name} is another`,
  };
}

function secretFault(key: JwtKey, { name, family, hashBytes }: Algorithm): Fault | undefined {
  if (family !== 'HS') return { reason: `${name} wants ${FAMILY_KEYS[family]}, and the key is ${describeKey(key)}` };
  const secret = key.keyObject.export();
  if (isKey(secret)) {
    return {
      reason: 'the secret is a key or a certificate: whoever knows its public part could sign',
      hint: 'give a key with --key; a secret is random bytes',
    };
  }
  if (secret.length >= hashBytes) return undefined;
  return {
    reason: `${name} wants a secret of at least ${hashBytes} bytes, and this has ${secret.length} (RFC 7518 section 3.2)`,
    hint: `make one: filings token keygen --alg ${name} --out FILE`,
  };
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
function limitsFault({ limits }: JwtKey, { name }: Algorithm, purpose: Purpose): Fault | undefined {
  const { use, keyOps, alg } = limits ?? {};
  if (use !== undefined && use !== 'sig')
    return { reason: `the JWK is not for signatures: its "use" is ${quoted(use)}` };
  if (keyOps !== undefined && !keyOps.includes(purpose)) {
    return { reason: `the JWK may not be used to ${purpose}: its "key_ops" do not name that` };
  }
  if (alg !== undefined && alg !== name) return { reason: `the JWK is for ${quoted(alg)} only, not for ${name}` };
  return undefined;
}

function curveName(openssl: string | undefined): string {
  const known = ALGORITHMS.find(({ curve }) => curve?.openssl === openssl)?.curve;
  return known?.jose ?? openssl ?? 'a curve without a name';
}
