import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject, sign, verify } from 'node:crypto';
import { errnoOf, FilingsError } from '../errors.ts';
import { readJwk } from './jwk.ts';

export type Purpose = 'sign' | 'verify';

/** A key or a secret that could be read; what it may be used for is `keyFault`'s to say. */
export interface JwtKey {
  /** Where it is from, for messages. */
  readonly what: string;
  /** `rsa`, `rsa-pss`, `ec`, `ed25519`, ... as node:crypto names them; or `secret`. */
  readonly kind: string;
  /** Of an RSA-PSS key the ordinary RSA key in it, since jose takes no other. */
  readonly keyObject: KeyObject;
  /** What an RSA-PSS key (RFC 8017 appendix C) restricts itself to. */
  readonly pss?: KeyObject['asymmetricKeyDetails'];
  readonly kid?: string | undefined;
  /** What a JWK allows itself to be used for (RFC 7517 section 4). */
  readonly use?: string | undefined;
  readonly keyOps?: readonly string[] | undefined;
  readonly alg?: string | undefined;
}

/** To look into a larger one takes seconds: of a JWK with a huge prime 28. */
const LARGEST_KIB = 16;
/** OpenSSL verifies with no larger ones, and signing with them takes minutes. Bits. */
const LONGEST_RSA_BITS = 16_384;
const PROBE = Buffer.from('probe');

/**
 * A key from the bytes of a PEM or JWK file.
 *
 * @param what where the bytes are from, for messages
 * @throws FilingsError `config`: no key, encrypted without a passphrase, ...; never with a word of the text
 */
export function loadKey(bytes: Buffer, what: string, passphrase?: string): JwtKey {
  requireSize(bytes, what);
  const text = bytes.toString('latin1');
  if (text.includes('-----BEGIN ')) return described(pemKey(text, what, passphrase), what);
  if (/^\s*\{/.test(text)) {
    const { keyObject, ...limits } = readJwk(bytes, what);
    return { ...described(keyObject, what), ...limits };
  }
  const hint = 'a secret for HS256, HS384 or HS512 is given with --secret-file';
  throw new FilingsError('config', `${what}: it is neither a PEM key nor a JWK`, { hint });
}

/** An HMAC secret: the bytes as they are, nothing trimmed. Throws `config`. */
export function loadSecret(bytes: Buffer, what: string): JwtKey {
  requireSize(bytes, what);
  return described(createSecretKey(bytes), what);
}

function requireSize({ length }: Buffer, what: string): void {
  if (length === 0) throw new FilingsError('config', `${what}: it is empty`);
  if (length <= LARGEST_KIB * 1024) return;
  throw new FilingsError('config', `${what}: larger than ${LARGEST_KIB} KiB, which no key or secret is`);
}

/** To sign with, the key itself; to verify with, the public half of a private one. Throws `config`. */
export function keyFor(purpose: Purpose, key: JwtKey): JwtKey {
  const { type } = key.keyObject;
  if (purpose === 'verify' && type === 'private') return { ...key, keyObject: createPublicKey(key.keyObject) };
  if (purpose === 'verify' || type !== 'public') return key;
  const hint = 'sign with the private key that belongs to it';
  throw new FilingsError('config', `${key.what}: it is a public key, which can only verify`, { hint });
}

/** A warning about a secret whose last byte is likely an editor's, not the secret's. */
export function lineBreakWarning({ what, keyObject }: JwtKey): string | undefined {
  if (keyObject.type !== 'secret' || !/^[\t\x20-\x7e\r\n]*\n$/.test(keyObject.export().toString('latin1'))) return;
  return `${what}: the secret ends in a line break, which is taken as a part of it`;
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

/** PKCS#8, PKCS#1, SEC1 or SPKI, with whatever text around it. */
function pemKey(text: string, what: string, passphrase: string | undefined): KeyObject {
  const isEncrypted = /BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text);
  if (isEncrypted && passphrase === undefined) {
    throw new FilingsError('config', `${what}: the key is encrypted, and there is no passphrase`, {
      hint: 'name the file that holds it with --passphrase-file; settings take a key without one',
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
  const kind = given.asymmetricKeyType ?? 'secret';
  const isPss = kind === 'rsa-pss';
  const keyObject = isPss ? asRsaKey(given) : given;
  // A weak key is refused for that, when it is to be used.
  if (keyObject.type === 'private' && /^(rsa|ec)/.test(kind) && !rsaWeakness(keyObject))
    requireSoundPair(keyObject, what);
  return { what, kind, keyObject, ...(isPss && { pss: given.asymmetricKeyDetails }) };
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
