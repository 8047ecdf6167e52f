// Decides whether a key fits an algorithm: its family, size, curve and restrictions. Refuses unsafe keys.
import type { KeyObject } from 'node:crypto';
import { FilingsError } from '../errors.ts';
import { quoted } from '../text.ts';
import { ALGORITHMS, type Algorithm, type Family } from './algorithms.ts';
import { loadDer } from './key-forms.ts';
import type { JwtKey, Purpose } from './keys.ts';

/** The sizes of RSA keys: at least 2048 bits by RFC 7518, section 3.3, and at most what OpenSSL verifies with. */
const RSA_BITS = { least: 2048, most: 16_384 };
const FAMILIES: Readonly<Record<string, readonly Family[]>> = {
  rsa: ['RS', 'PS'],
  'rsa-pss': ['PS'],
  ec: ['ES'],
  secret: ['HS'],
};
/** The names of curves in JWKs (RFC 7518, section 6.2.1.1), by OpenSSL's names. */
const JWK_CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

/** Returns why a key cannot be used with an algorithm, as the end of a sentence, or undefined. */
export function keyFault(key: JwtKey, algorithm: Algorithm, purpose: Purpose): string | undefined {
  return materialFault(key, algorithm) ?? limitsFault(key, algorithm, purpose);
}

/** Returns the algorithm to use. Throws `config` with the reason of the algorithm that comes closest. */
export function requireFit(key: JwtKey, purpose: Purpose, wanted?: Algorithm): Algorithm {
  const candidates = wanted === undefined ? ALGORITHMS : [wanted];
  const fitting = candidates.find((algorithm) => keyFault(key, algorithm, purpose) === undefined);
  if (fitting !== undefined) return fitting;
  const nearest =
    candidates.find((algorithm) => materialFault(key, algorithm) === undefined) ??
    candidates.find(({ family }) => FAMILIES[key.kind]?.includes(family)) ??
    (candidates[0] as Algorithm);
  const reason = keyFault(key, nearest, purpose) ?? 'it cannot be used';
  throw new FilingsError('config', reason, { subject: { name: key.name } });
}

function materialFault(key: JwtKey, algorithm: Algorithm): string | undefined {
  const { kind, keyObject } = key;
  const { name, family, curve } = algorithm;
  const families = FAMILIES[kind];
  const is = `the key is ${described(key)}`;
  if (families === undefined) return `${is}, which the service does not accept`;
  if (!families.includes(family) || (curve && curve !== curveOf(keyObject))) return `${is}, which is not for ${name}`;
  if (kind === 'secret') return secretFault(keyObject.export(), algorithm);
  if (kind === 'ec') return undefined;
  return rsaFault(key, is) ?? pssFault(key, algorithm);
}

/** Returns a description of the key with its article: `an RSA key of 2048 bits`. */
function described({ kind, keyObject }: JwtKey): string {
  if (kind === 'secret') return `a secret of ${keyObject.symmetricKeySize} bytes`;
  if (kind === 'ec') return `an EC key on ${curveOf(keyObject)}`;
  if (!kind.startsWith('rsa')) return `a key of type ${kind}${kind.startsWith('ed') ? ' (EdDSA)' : ''}`;
  return `an ${kind.toUpperCase()} key of ${keyObject.asymmetricKeyDetails?.modulusLength} bits`;
}

function curveOf(key: KeyObject): string {
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  return JWK_CURVES[namedCurve] ?? namedCurve;
}

/** Returns why an RSA key is unsafe, or undefined. With an exponent of 1 each message is its own signature. */
function rsaFault({ keyObject }: JwtKey, is: string): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = keyObject.asymmetricKeyDetails ?? {};
  if (modulusLength < RSA_BITS.least) return `${is}, and fewer than ${RSA_BITS.least} are not safe`;
  if (modulusLength > RSA_BITS.most) return `${is}, and more than ${RSA_BITS.most} cannot be used`;
  if (publicExponent >= 3n && publicExponent % 2n === 1n) return undefined;
  return `${is}, and with its public exponent of ${publicExponent} anybody could sign`;
}

/** Returns why the restrictions of an RSA-PSS key rule out the algorithm, or undefined. */
function pssFault({ pss }: JwtKey, { name, hashBytes }: Algorithm): string | undefined {
  const { hashAlgorithm, mgf1HashAlgorithm, saltLength = 0 } = pss ?? {};
  if (hashAlgorithm === undefined) return undefined;
  const isOurs = [hashAlgorithm, mgf1HashAlgorithm].every((hash) => hash === `sha${hashBytes * 8}`);
  if (isOurs && saltLength <= hashBytes) return undefined;
  return `the key restricts itself to ${hashAlgorithm} and a salt of ${saltLength} bytes, which is not for ${name}`;
}

function secretFault(secret: Buffer, { name, hashBytes }: Algorithm): string | undefined {
  if (isKey(secret)) return 'the secret is a key or a certificate: whoever knows its public part could sign';
  if (secret.length >= hashBytes) return undefined;
  return `${name} needs a secret of at least ${hashBytes} bytes, and this has ${secret.length}`;
}

/**
 * Returns whether a secret is a key or a certificate (PEM, SSH, JWK, DER, or base64 of these). Its public part may be known
 * to others (RFC 8725, section 2.1).
 */
function isKey(secret: Buffer): boolean {
  const decoded = Buffer.from(secret.toString('latin1'), 'base64');
  return [secret, decoded].some(
    (bytes) => /-----? ?BEGIN |^ssh-|^ecdsa-|^\s*\{.*"kty"/s.test(bytes.toString('latin1')) || loadDer(bytes),
  );
}

/** Returns which restriction of a JWK rules out this use, or undefined (RFC 7517, sections 4.2 to 4.4). */
function limitsFault({ use, keyOps, alg }: JwtKey, { name }: Algorithm, purpose: Purpose): string | undefined {
  if (use !== undefined && use !== 'sig') return `the JWK is not for signatures: its use is ${quoted(use)}`;
  if (keyOps?.includes(purpose) === false) return `the JWK may not be used to ${purpose}: its key_ops do not name that`;
  return alg === undefined || alg === name ? undefined : `the JWK is for ${quoted(alg)} only, not for ${name}`;
}
