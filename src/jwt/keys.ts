import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject, sign, verify } from 'node:crypto';
import { errnoOf, FilingsError } from '../errors.ts';
import { type KeyLimits, readJwk } from './jwk.ts';

export type Purpose = 'sign' | 'verify';

/** A key or a secret that could be read; what it may be used for is `keyFault`'s to say. */
export interface JwtKey {
  /** Where it is from, for messages. */
  readonly what: string;
  /** `rsa`, `rsa-pss`, `ec`, `ed25519`, ... as node:crypto names them; undefined for a secret. */
  readonly kind: string | undefined;
  /** Of an RSA-PSS key the ordinary RSA key in it, since jose takes no other. */
  readonly keyObject: KeyObject;
  /** What an RSA-PSS key (RFC 8017 appendix C) restricts itself to. */
  readonly pss?: KeyObject['asymmetricKeyDetails'];
  readonly kid?: string;
  readonly limits?: KeyLimits;
}

/** To refuse a larger one takes seconds: of a JWK with a huge prime 28. */
const LARGEST_KIB = 16;
/** OpenSSL verifies with no larger ones, and signing with them takes minutes. Bits. */
const LONGEST_RSA_BITS = 16_384;
const PROBE = Buffer.from('probe');

/**
 * A key from the bytes of a PEM or JWK file; to verify with, the public half of a private one.
 *
 * @param what where the bytes are from, for messages
 * @throws FilingsError `config`: no key, a public one to sign with, encrypted without a passphrase, ...
 */
export function loadKey(bytes: Buffer, what: string, purpose: Purpose, passphrase?: string): JwtKey {
  requireKeySize(bytes, what);
  const text = bytes.toString('latin1');
  const key = text.includes('-----BEGIN ')
    ? described(pemKey(text, what, passphrase), what)
    : /^\s*\{/.test(text)
      ? jwkKey(bytes, what)
      : undefined;
  if (key === undefined) {
    const hint = 'a secret for HS256, HS384 or HS512 is given with --secret-file';
    throw new FilingsError('config', `${what}: it is neither a PEM key nor a JWK`, { hint });
  }
  if (purpose === 'verify') return publicHalf(key);
  if (key.keyObject.type !== 'public') return key;
  const hint = 'sign with the private key that belongs to it';
  throw new FilingsError('config', `${what}: it is a public key, which can only verify`, { hint });
}

/** An HMAC secret: the bytes as they are, nothing trimmed. Whether they may serve as one is `keyFault`'s to say. */
export function loadSecret(bytes: Buffer, what: string): JwtKey {
  requireKeySize(bytes, what);
  return { what, kind: undefined, keyObject: createSecretKey(bytes) };
}

/** Refuses what is too small or too large for a key or a secret, before anything is done with it. Throws `config`. */
export function requireKeySize({ length }: Buffer, what: string): void {
  if (length === 0) throw new FilingsError('config', `${what}: it is empty`);
  if (length <= LARGEST_KIB * 1024) return;
  throw new FilingsError('config', `${what}: larger than ${LARGEST_KIB} KiB, which no key or secret is`);
}

/** A warning about a secret whose last byte is likely an editor's, not the secret's. */
export function lineBreakWarning({ what, keyObject }: JwtKey): string | undefined {
  if (keyObject.type !== 'secret') return undefined;
  const text = keyObject.export().toString('latin1');
  if (!/^[\t\x20-\x7e\r\n]*\n$/.test(text)) return undefined;
  return `${what}: the secret ends in a line break, which is taken as a part of it`;
}

/** Whether the bytes are a public key and nothing secret besides, so that anybody may read their file. */
export function isPublicMaterial(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  if (text.includes('-----BEGIN ')) return !/PRIVATE|PASSWORD|SECRET/i.test(text);
  return /^\s*\{/.test(text) && !/"(d|k|p|q|dp|dq|qi|keys)"/.test(text) && !text.includes('\\');
}

/** Why nobody should trust a signature by an RSA key, as the end of a sentence: with e = 1 a message is its own signature. */
export function rsaWeakness(key: KeyObject): string | undefined {
  // Node dies of looking into broken keys of other kinds.
  if (key.asymmetricKeyType !== 'rsa') return undefined;
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength > LONGEST_RSA_BITS) return `its modulus is longer than ${LONGEST_RSA_BITS} bits`;
  if (publicExponent >= 3n && publicExponent % 2n === 1n) return undefined;
  return `its public exponent is ${publicExponent}, with which anybody could sign`;
}

function publicHalf(key: JwtKey): JwtKey {
  const { keyObject, limits } = key;
  if (keyObject.type !== 'private') return key;
  // What may sign may have its signatures verified.
  const keyOps = limits?.keyOps?.includes('sign') ? { keyOps: [...limits.keyOps, 'verify'] } : {};
  return { ...key, keyObject: createPublicKey(keyObject), ...(limits && { limits: { ...limits, ...keyOps } }) };
}

function jwkKey(bytes: Buffer, what: string): JwtKey {
  const { keyObject, ...rest } = readJwk(bytes, what);
  return { ...described(keyObject, what), ...rest };
}

/** PKCS#8, PKCS#1, SEC1 or SPKI, with whatever text around it. */
function pemKey(text: string, what: string, passphrase: string | undefined): KeyObject {
  const isEncrypted = /BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text);
  if (isEncrypted && passphrase === undefined) {
    throw new FilingsError('config', `${what}: the key is encrypted, and there is no passphrase`, {
      hint: 'put the passphrase into a file that only you can read, and name it with --passphrase-file; settings take a key without one',
    });
  }
  try {
    if (!text.includes('PRIVATE KEY-----')) return createPublicKey(text);
    return createPrivateKey({ key: text, ...(isEncrypted && { passphrase }) });
  } catch (cause) {
    const why = isEncrypted
      ? `the key cannot be decrypted: the passphrase is wrong, or its cipher is unknown (${errnoOf(cause)})`
      : 'the PEM text does not hold a sound key';
    throw new FilingsError('config', `${what}: ${why}`, { cause });
  }
}

function described(given: KeyObject, what: string): JwtKey {
  const isPss = given.asymmetricKeyType === 'rsa-pss';
  const keyObject = isPss ? asRsaKey(given) : given;
  // A weak key is refused for that, when it is to be used.
  if (keyObject.type === 'private' && /^(rsa|ec)$/.test(keyObject.asymmetricKeyType ?? '') && !rsaWeakness(keyObject))
    requireSoundPair(keyObject, what);
  return { what, kind: given.asymmetricKeyType, keyObject, ...(isPss && { pss: given.asymmetricKeyDetails }) };
}

/** The same numbers as an ordinary RSA key: SPKI and PKCS#8 of an RSA-PSS key end in its PKCS#1. */
function asRsaKey(key: KeyObject): KeyObject {
  const isPrivate = key.type === 'private';
  const der = isPrivate ? key.export({ format: 'der', type: 'pkcs8' }) : key.export({ format: 'der', type: 'spki' });
  // The next long sequence within the outer one.
  const inner = { key: der.subarray(der.indexOf(Buffer.of(0x30, 0x82), 1)), format: 'der', type: 'pkcs1' } as const;
  return isPrivate ? createPrivateKey(inner) : createPublicKey(inner);
}

/**
 * Refuses a private key whose parts don't belong together: what it signs, its own public half would not verify, and
 * Node dies of exporting some of them. Throws `config`.
 */
function requireSoundPair(keyObject: KeyObject, what: string): void {
  try {
    if (verify('sha256', PROBE, createPublicKey(keyObject), sign('sha256', PROBE, keyObject))) return;
  } catch {
    // As below.
  }
  throw new FilingsError('config', `${what}: the key's parts don't belong together`);
}
