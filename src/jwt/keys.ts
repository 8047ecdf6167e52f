import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject, sign, verify } from 'node:crypto';
import { errnoOf, FilingsError } from '../errors.ts';
import { type KeyLimits, readJwk } from './jwk.ts';

/** A key or a secret that could be read; what it may be used for is `keyFault`'s to say. */
export interface JwtKey {
  /** Where it is from, for messages. */
  readonly what: string;
  /** `rsa`, `rsa-pss`, `ec`, `ed25519`, ... as node:crypto names them; undefined for a secret. */
  readonly kind: string | undefined;
  /** Of an RSA-PSS key the ordinary RSA key in it, since jose takes no other. */
  readonly keyObject: KeyObject;
  readonly pss?: PssLimits;
  readonly kid?: string;
  readonly limits?: KeyLimits;
}

/** What an RSA-PSS key (RFC 8017 appendix C) restricts itself to. */
export interface PssLimits {
  readonly hash: string;
  readonly mgf1Hash: string;
  /** The shortest salt, in bytes. */
  readonly saltLength: number;
}

/** To refuse a larger one takes seconds: of a JWK with a huge prime 28. */
const LARGEST_KIB = 16;
/** OpenSSL verifies with no larger ones, and signing with them takes minutes. Bits. */
const LONGEST_RSA_BITS = 16_384;
/** With a long modulus OpenSSL takes no public exponent beyond that. Bits. */
const LONGEST_EXPONENT_BITS = 64n;
const PROBE = Buffer.from('probe');

/**
 * A key to check signatures with, from the bytes of a PEM or JWK file; of a private key its public half.
 *
 * @param what where the bytes are from, for messages
 * @throws FilingsError `config`: no key, a certificate, encrypted without a passphrase, ...
 */
export function loadVerificationKey(bytes: Buffer, what: string, passphrase?: string): JwtKey {
  const key = loadKey(bytes, what, passphrase);
  const { keyObject, limits } = key;
  if (keyObject.type !== 'private') return key;
  // What may sign may have its signatures verified.
  const keyOps = limits?.keyOps?.includes('sign') ? { keyOps: [...limits.keyOps, 'verify'] } : {};
  return { ...key, keyObject: createPublicKey(keyObject), ...(limits && { limits: { ...limits, ...keyOps } }) };
}

/**
 * A key to sign with, from the bytes of a PEM or JWK file.
 *
 * @throws FilingsError `config`: as {@link loadVerificationKey}, and a public key
 */
export function loadSigningKey(bytes: Buffer, what: string, passphrase?: string): JwtKey {
  const key = loadKey(bytes, what, passphrase);
  if (key.keyObject.type !== 'public') return key;
  throw new FilingsError('config', `${what}: it is a public key, which can only verify`, {
    hint: 'sign with the private key that belongs to it',
  });
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
  const { modulusLength = 0, publicExponent: e = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength > LONGEST_RSA_BITS) return `its modulus is longer than ${LONGEST_RSA_BITS} bits`;
  if (e < 3n) return `its public exponent is ${e}, with which anybody could sign`;
  if (e % 2n === 0n) return 'its public exponent is even';
  return e >> LONGEST_EXPONENT_BITS > 0n ? 'its public exponent is too large' : undefined;
}

function loadKey(bytes: Buffer, what: string, passphrase: string | undefined): JwtKey {
  requireKeySize(bytes, what);
  const text = bytes.toString('latin1');
  if (text.includes('-----BEGIN ')) return described(pemKey(text, what, passphrase), what);
  if (/^\s*\{/.test(text)) {
    const { keyObject, ...rest } = readJwk(bytes, what);
    return { ...described(keyObject, what), ...rest };
  }
  const isDer = bytes[0] === 0x30;
  throw new FilingsError('config', `${what}: it is neither a PEM key nor a JWK${isDer ? ', but perhaps DER' : ''}`, {
    hint: isDer
      ? "'openssl pkey -inform DER -in FILE' turns DER into PEM (with -pubin for a public key)"
      : 'a secret for HS256, HS384 or HS512 is given with --secret-file',
  });
}

/** PKCS#8, PKCS#1, SEC1 or SPKI, with whatever text around it. */
function pemKey(text: string, what: string, passphrase: string | undefined): KeyObject {
  const refused = (why: string, hint: string, cause?: unknown) =>
    new FilingsError('config', `${what}: ${why}`, { hint, cause });
  const privates = text.match(/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/g)?.length ?? 0;
  if (text.includes('BEGIN OPENSSH '))
    throw refused("it is an SSH key, in SSH's own format", "'ssh-keygen -p -m PKCS8 -f COPY' turns a copy into PEM");
  if (privates === 0 && text.includes('BEGIN CERTIFICATE'))
    throw refused(
      'it is a certificate, not a key',
      'take the public key out of it: openssl x509 -in FILE -pubkey -noout',
    );
  if (privates > 1) throw refused(`it holds ${privates} keys`, 'put each into its own file');
  const isEncrypted = /BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text);
  if (isEncrypted && passphrase === undefined) {
    throw refused(
      'the key is encrypted, and there is no passphrase',
      'put the passphrase into a file that only you can read, and name it with --passphrase-file; settings take a key without one',
    );
  }
  try {
    return privates === 0 ? createPublicKey(text) : createPrivateKey({ key: text, ...(isEncrypted && { passphrase }) });
  } catch (cause) {
    if (!isEncrypted)
      throw refused(
        'the PEM text does not hold a sound key',
        'copy the whole file again, BEGIN and END lines too',
        cause,
      );
    throw refused(
      `the key cannot be decrypted: the passphrase is wrong, or its cipher is unknown (${errnoOf(cause)})`,
      "'openssl pkcs8 -topk8' encrypts it anew",
    );
  }
}

function described(given: KeyObject, what: string): JwtKey {
  const kind = given.asymmetricKeyType;
  const isPss = kind === 'rsa-pss';
  const keyObject = isPss ? asRsaKey(given) : given;
  // A weak key is refused for that, when it is to be used.
  if (keyObject.type === 'private' && /^(rsa|ec)$/.test(keyObject.asymmetricKeyType ?? '') && !rsaWeakness(keyObject))
    requireSoundPair(keyObject, what);
  const { hashAlgorithm: hash, mgf1HashAlgorithm = hash, saltLength = 0 } = (isPss && given.asymmetricKeyDetails) || {};
  return {
    what,
    kind,
    keyObject,
    ...(hash && mgf1HashAlgorithm && { pss: { hash, mgf1Hash: mgf1HashAlgorithm, saltLength } }),
  };
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
  throw new FilingsError('config', `${what}: the key's parts don't belong together`, {
    hint: 'it was put together from two keys, or damaged: take it from where it was made',
  });
}
