import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { errnoOf, FilingsError } from '../../errors.ts';
import { type KeyLimits, readJwk } from './jwk.ts';
import { requireSoundPair } from './key-pair.ts';
import { findPemKey, looksLikePem, looksLikeSsh, type PemKey, sshKey } from './pem.ts';
import { rsaNumbers, rsaWeakness } from './rsa-numbers.ts';
import { asRsaKey, type PssLimits, pssLimits } from './rsa-pss.ts';

/** A key or a secret that could be read; what it may be used for is `keyFault`'s to say. */
export interface JwtKey {
  /** Where it is from, for messages. */
  readonly what: string;
  readonly type: 'private' | 'public' | 'secret';
  /** `rsa`, `rsa-pss`, `ec`, `ed25519`, ... as node:crypto names them; undefined for a secret. */
  readonly kind: string | undefined;
  readonly keyObject: KeyObject;
  /** RSA: the modulus' length in bits. */
  readonly bits?: number;
  /** RSA: why no signature by it proves anything, as the end of a sentence. */
  readonly weakness?: string;
  /** EC: as OpenSSL names it; undefined when its parameters are spelt out. */
  readonly curve?: string;
  readonly pss?: PssLimits;
  readonly kid?: string;
  readonly limits?: KeyLimits;
}

export type SecretKey = JwtKey & { readonly type: 'secret' };
export type VerificationKey = JwtKey & { readonly type: 'public' | 'secret' };
export type SigningKey = JwtKey & { readonly type: 'private' | 'secret' };

/**
 * A key to check signatures with, from the bytes of a PEM or JWK file; of a private key its public half.
 *
 * @param what where the bytes are from, for messages
 * @throws FilingsError `config`: no key, a certificate, an SSH key, encrypted without a passphrase, ...
 */
export function loadVerificationKey(bytes: Buffer, what: string, passphrase?: string): VerificationKey {
  const key = loadKey(bytes, what, passphrase);
  return key.type === 'private' ? publicHalf(key) : (key as VerificationKey);
}

/**
 * A key to sign with, from the bytes of a PEM or JWK file.
 *
 * @throws FilingsError `config`: as {@link loadVerificationKey}, and a public key
 */
export function loadSigningKey(bytes: Buffer, what: string, passphrase?: string): SigningKey {
  const key = loadKey(bytes, what, passphrase);
  if (key.type !== 'public') return key as SigningKey;
  throw new FilingsError('config', `${what}: it is a public key, which can only verify`, {
    hint: 'sign with the private key that belongs to it',
  });
}

/** An HMAC secret: the bytes as they are, nothing trimmed. Whether they may serve as one is `keyFault`'s to say. */
export function loadSecret(bytes: Buffer, what: string): SecretKey {
  if (bytes.length === 0) throw new FilingsError('config', `${what}: it is empty`);
  return { what, type: 'secret', kind: undefined, keyObject: createSecretKey(bytes) };
}

/** A warning about a secret whose last byte is likely an editor's, not the secret's. */
export function lineBreakWarning({ type, what, keyObject }: JwtKey): string | undefined {
  if (type !== 'secret') return undefined;
  const text = keyObject.export().toString('latin1');
  if (!/^[\t\x20-\x7e\r\n]*\n$/.test(text)) return undefined;
  return `${what}: the secret ends in a line break, which is taken as a part of it`;
}

/** Whether the bytes are a public key or a certificate and nothing secret besides, so that anybody may read their file. */
export function isPublicMaterial(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  if (looksLikePem(text)) return !/PRIVATE|PASSWORD|SECRET/i.test(text);
  if (/^\s*\{/.test(text)) return !/"(d|k|p|q|dp|dq|qi|keys)"/.test(text) && !text.includes('\\');
  return looksLikeSsh(text) && !/PRIVATE/i.test(text);
}

function publicHalf(key: JwtKey): VerificationKey {
  const { limits } = key;
  // What may sign may have its signatures verified.
  const keyOps = limits?.keyOps?.includes('sign') ? { keyOps: [...limits.keyOps, 'verify'] } : {};
  return {
    ...key,
    type: 'public',
    keyObject: createPublicKey(key.keyObject),
    ...(limits === undefined ? {} : { limits: { ...limits, ...keyOps } }),
  };
}

function loadKey(bytes: Buffer, what: string, passphrase: string | undefined): JwtKey {
  const text = bytes.toString('latin1');
  if (bytes.length === 0) throw new FilingsError('config', `${what}: it is empty`);
  if (looksLikePem(text)) return describe(pemKeyObject(findPemKey(text, what), what, passphrase), what);
  if (/^\s*\{/.test(text)) {
    const { keyObject, ...rest } = readJwk(bytes, what);
    return { ...describe(keyObject, what), ...rest };
  }
  if (looksLikeSsh(text)) throw sshKey(what);
  const isDer = bytes[0] === 0x30;
  throw new FilingsError('config', `${what}: it is neither a PEM key nor a JWK${isDer ? ', but perhaps DER' : ''}`, {
    hint: isDer
      ? "'openssl pkey -inform DER -in FILE' turns DER into PEM (with -pubin for a public key)"
      : 'a secret for HS256, HS384 or HS512 is given with --secret-file',
  });
}

function pemKeyObject(pem: PemKey, what: string, passphrase: string | undefined): KeyObject {
  if (pem.isEncrypted && passphrase === undefined) {
    throw new FilingsError('config', `${what}: the key is encrypted, and there is no passphrase`, {
      hint: 'put the passphrase into a file that only you can read, and name it with --passphrase-file; settings take a key without one',
    });
  }
  try {
    if (!pem.isPrivate) return createPublicKey(pem.text);
    return createPrivateKey({ key: pem.text, ...(pem.isEncrypted ? { passphrase } : {}) });
  } catch (cause) {
    const why = pem.isEncrypted ? decryptionFault(errnoOf(cause)) : 'the PEM block does not hold a sound key';
    throw new FilingsError('config', `${what}: ${why}`, { cause });
  }
}

function decryptionFault(code: string | undefined): string {
  return code === 'ERR_OSSL_UNSUPPORTED' || code === 'ERR_OSSL_EVP_UNSUPPORTED'
    ? // What a wrong passphrase makes of it can look like another format, too.
      "the key can't be decrypted: the passphrase is wrong, or the key is encrypted in a way that this Node's OpenSSL does not take: 'openssl pkcs8 -topk8' encrypts it anew"
    : "the key can't be decrypted: the passphrase is wrong, or the file is damaged";
}

function describe(given: KeyObject, what: string): JwtKey {
  const { type, asymmetricKeyType: kind } = given;
  // Node dies of looking into some broken keys of other kinds, and none of those is taken.
  const details = /^(rsa|ec)/.test(kind ?? '') ? given.asymmetricKeyDetails : undefined;
  const pss = kind === 'rsa-pss' ? pssLimits(given) : undefined;
  const keyObject = kind === 'rsa-pss' ? asRsaKey(given) : given;
  const weakness = keyObject.asymmetricKeyType === 'rsa' ? rsaWeakness(rsaNumbers(keyObject)) : undefined;
  // A weak key is refused for that, when it is to be used.
  if (weakness === undefined) requireSoundPair(keyObject, what);
  return {
    what,
    type,
    kind,
    keyObject,
    ...(details?.modulusLength === undefined ? {} : { bits: details.modulusLength }),
    ...(weakness === undefined ? {} : { weakness }),
    ...(details?.namedCurve === undefined ? {} : { curve: details.namedCurve }),
    ...(pss === undefined ? {} : { pss }),
  };
}
