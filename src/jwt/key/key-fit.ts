import { FilingsError } from '../../errors.ts';
import { quoted } from '../../text.ts';
import { ALGORITHMS, type Algorithm, type Family, findAlgorithm } from '../algorithms.ts';
import type { Fault } from '../token/strict-token.ts';
import type { JwtKey } from './keys.ts';
import { looksLikeKey } from './lookalike.ts';

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
    (key.kind === undefined ? secretFault(key, algorithm) : asymmetricFault(key, algorithm)) ??
    limitsFault(key, algorithm, purpose)
  );
}

/** The algorithms that a key may be used with, the preferred one first. */
function fittingAlgorithms(key: JwtKey, purpose: Purpose): readonly Algorithm[] {
  return ALGORITHMS.filter((algorithm) => keyFault(key, algorithm, purpose) === undefined);
}

/**
 * Checks that a key fits an algorithm, or any at all; answers with the one to use.
 *
 * @throws FilingsError `config`: with the reason
 */
export function requireFit(key: JwtKey, purpose: Purpose, wanted?: Algorithm): Algorithm {
  const algorithm = wanted ?? fittingAlgorithms(key, purpose)[0] ?? nearestAlgorithm(key);
  const fault = keyFault(key, algorithm, purpose);
  if (fault === undefined) return algorithm;
  throw new FilingsError(
    'config',
    `${key.what}: ${fault.reason}`,
    fault.hint === undefined ? {} : { hint: fault.hint },
  );
}

/** What a key is, with its article: `an RSA key of 2048 bits`. */
function describeKey(key: JwtKey): string {
  if (key.kind === undefined) return `a secret of ${key.keyObject.symmetricKeySize} bytes`;
  if (key.bits !== undefined) {
    return `an ${key.kind === 'rsa' ? 'RSA' : 'RSA-PSS'} key of ${key.bits} bits`;
  }
  return key.kind === 'ec' ? `an EC key on ${curveName(key.curve)}` : `a key of type ${key.kind}`;
}

/** The algorithm whose refusal tells most about a key that fits none. */
function nearestAlgorithm(key: JwtKey): Algorithm {
  const families = key.kind === undefined ? ['HS'] : (FAMILIES[key.kind] ?? []);
  const near = ALGORITHMS.filter(({ family }) => families.includes(family));
  const named = findAlgorithm(key.limits?.alg ?? '');
  const best = near.find(({ curve }) => curve?.openssl === key.curve) ?? near[0] ?? ALGORITHMS[0];
  return named ?? (best as Algorithm);
}

function asymmetricFault(key: JwtKey, { name, family, curve, ...algorithm }: Algorithm): Fault | undefined {
  const families = FAMILIES[key.kind ?? ''];
  if (families === undefined) {
    const eddsa = key.kind?.startsWith('ed') ? ' (EdDSA)' : '';
    return {
      reason: `the key is ${describeKey(key)}${eddsa}, which the service does not take`,
      hint: 'it takes RSA keys, EC keys on P-256, P-384 and P-521, and shared secrets',
    };
  }
  if (family === 'HS') return publicKeyAsSecret(key, name);
  if (!families.includes(family))
    return { reason: `${name} wants ${FAMILY_KEYS[family]}, and the key is ${describeKey(key)}` };
  if (curve !== undefined && curve.openssl !== key.curve) {
    const fitting = ALGORITHMS.find((other) => other.curve?.openssl === key.curve);
    const hint = fitting === undefined ? {} : { hint: `that curve goes with ${fitting.name}` };
    return { reason: `${name} wants a key on ${curve.jose}, and the key is ${describeKey(key)}`, ...hint };
  }
  if (key.bits !== undefined && key.bits < SHORTEST_RSA_BITS) {
    return { reason: `the key is ${describeKey(key)}, and fewer than ${SHORTEST_RSA_BITS} are not safe (RFC 7518)` };
  }
  if (key.weakness !== undefined) return { reason: `the key is ${describeKey(key)}, and ${key.weakness}` };
  return pssFault(key, name, algorithm);
}

function pssFault(
  { pss }: JwtKey,
  name: string,
  { hash, hashBytes }: Pick<Algorithm, 'hash' | 'hashBytes'>,
): Fault | undefined {
  if (pss === undefined || (pss.hash === hash && pss.mgf1Hash === hash && pss.saltLength <= hashBytes))
    return undefined;
  const { hash: own, mgf1Hash, saltLength } = pss;
  return {
    reason: `the key restricts itself to ${own}, MGF1 with ${mgf1Hash} and a salt of ${saltLength} bytes: ${name} is another`,
  };
}

function publicKeyAsSecret(key: JwtKey, name: string): Fault {
  return {
    reason: `${name} is made with a shared secret, and the key is ${describeKey(key)}`,
    hint: 'a token that says HS where a public key is expected may be a forgery that takes the public key for the secret',
  };
}

function secretFault(key: JwtKey, { name, family, hashBytes }: Algorithm): Fault | undefined {
  if (family !== 'HS') return { reason: `${name} wants ${FAMILY_KEYS[family]}, and the key is ${describeKey(key)}` };
  const secret = key.keyObject.export();
  if (looksLikeKey(secret)) {
    return {
      reason: 'the secret is a key, a JWK or a certificate: whoever knows its public part could sign',
      hint: 'give a key with --key; a secret is random bytes',
    };
  }
  if (secret.length >= hashBytes) return undefined;
  return {
    reason: `${name} wants a secret of at least ${hashBytes} bytes, and this has ${secret.length} (RFC 7518 section 3.2)`,
    hint: `make one: filings token keygen --alg ${name} --out FILE`,
  };
}

/** RFC 7517 sections 4.2 to 4.4. */
function limitsFault(key: JwtKey, { name }: Algorithm, purpose: Purpose): Fault | undefined {
  const { use, keyOps, alg } = key.limits ?? {};
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
