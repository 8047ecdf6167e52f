// Reads keys: PEM, JWK, or the raw bytes of an HMAC secret. Damaged keys are refused here. Whether a sound key may be
// used with an algorithm is decided in key-fit.ts.
import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { checkAccess, readSecretFile, readSmallFile } from '../disk/secret-file.ts';
import { FilingsError, type FilingsErrorDetails } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { readStdin } from '../stdio/input.ts';
import { decodeText, removeLineBreak } from '../text.ts';
import type { World } from '../world.ts';
import { ARMOR, findKeyForm, type KeyForm, loadPem } from './key-forms.ts';
import { findNonString, readJsonObject } from './token.ts';

/** The words of `key_ops` in a JWK (RFC 7517, section 4.3). */
export type Purpose = 'sign' | 'verify';

/** It may still be unsafe or unsuitable, which `findKeyFault` of key-fit.ts finds out. */
export interface JwtKey {
  readonly name: string;
  /** `secret`, `unknown`, or the `asymmetricKeyType` of the key that was read. */
  readonly keyType: string;
  /** The form of a key that was passed as a secret. Then no algorithm may use it. */
  readonly form?: KeyForm | undefined;
  /** An RSA-PSS key is converted to an ordinary RSA key, because jose accepts no other. */
  readonly keyObject: KeyObject;
  /** The restrictions of an RSA-PSS key (RFC 8017, appendix A.2.3). */
  readonly pss?: KeyObject['asymmetricKeyDetails'];
  /** From a JWK. By default it goes into the header of each token that the key signs. */
  readonly kid?: string | undefined;
  /** These three are the restrictions of a JWK (RFC 7517, section 4). */
  readonly use?: string | undefined;
  readonly keyOps?: readonly string[] | undefined;
  readonly alg?: string | undefined;
}

/** Loading an RSA key with a prime number of 30 kB would take 28 s. */
const MAX_KIB = 16;
const PROBE = Buffer.from('probe');
/** The identifier of RSA-PSS in DER. That of ordinary RSA differs only in the last byte: 1 (RFC 8017, appendix C). */
const PSS_ID = Buffer.from('06092a864886f70d01010a', 'hex');

/** Where a PEM or JWK key, or an HMAC secret, is read. The path is absolute. Without one, it is stdin. */
export interface JwtKeySource {
  readonly kind: 'key' | 'secret';
  readonly path?: string | undefined;
}

/** @param warn tells the user about a line break at the end of a secret */
export async function readJwtKey(
  { kind, path }: JwtKeySource,
  purpose: Purpose,
  world: World,
  warn: (text: string) => unknown,
  passphraseFile?: string,
): Promise<JwtKey> {
  const label = `${kind} file`;
  // The access to a key file is checked below, when it is known whether the key is private.
  const { bytes, stats } =
    path === undefined
      ? { bytes: await readStdin(kind, world, 'Ctrl-D') }
      : await readSmallFile(path, label, world, kind === 'secret' ? 'private' : undefined);
  const passphrase = passphraseFile === undefined ? undefined : await readPassphrase(passphraseFile, world);
  const name = `${label} ${path ?? '(stdin)'}`;
  const key = kind === 'secret' ? loadSecret(bytes, name, path) : loadKey(bytes, name, path, passphrase);
  const { keyObject } = key;
  if (stats && path && keyObject.type !== 'public') checkAccess(stats, 'private', label, path, world);
  if (keyObject.type === 'secret') {
    const secret = keyObject.export().toString('latin1');
    // Registered without a line break at its end, because a message could quote it without one.
    world.secrets.add(Buffer.from(secret.trimEnd(), 'latin1'));
    // An editor adds a line break only to text. Random bytes can end in one by chance.
    if (/^[\t\x20-\x7e\r\n]*\n$/.test(secret))
      await warn(`${name}: the secret ends in a line break, which is used as part of the secret`);
  }
  return restrictTo(purpose, key);
}

async function readPassphrase(path: string, world: World): Promise<string> {
  const text = decodeText(await readSecretFile(path, 'passphrase file', world));
  world.secrets.add(text.trimEnd());
  // Editors end a file with a line break, which is not part of the passphrase.
  return removeLineBreak(text);
}

/** The message never quotes the key. */
export function loadKey(bytes: Buffer, name: string, path?: string, passphrase?: string): JwtKey {
  requireSize(bytes, name);
  const text = decodeText(bytes);
  const form = findKeyForm(bytes, path);
  if (form && !form.isUsable) throw keyError(name, `it is ${form.contents}`, { hint: form.hint });
  if (text.includes(ARMOR)) return toJwtKey(parsePem(text, name, passphrase), name);
  // `parseJwk` expects UTF-8, but the file may be UTF-16.
  if (/^\s*\{/.test(text)) return parseJwk(Buffer.from(text), name);
  throw keyError(name, 'it is neither a PEM key nor a JWK', {
    hint: 'a key is PEM or a JWK; --secret-file is for an HMAC secret only',
  });
}

/** Every byte is part of it, even a line break at the end. */
export function loadSecret(bytes: Buffer, name: string, path?: string): JwtKey {
  requireSize(bytes, name);
  return toJwtKey(createSecretKey(bytes), name, path);
}

function requireSize({ length }: Buffer, name: string): void {
  if (length === 0) throw keyError(name, 'it is empty');
  if (length > MAX_KIB * 1024) throw keyError(name, `larger than ${MAX_KIB} KiB`);
}

/** To verify, takes the public half of a private key. */
export function restrictTo(purpose: Purpose, key: JwtKey): JwtKey {
  const { type } = key.keyObject;
  if (purpose === 'verify' && type === 'private') return { ...key, keyObject: createPublicKey(key.keyObject) };
  if (purpose === 'sign' && type === 'public') throw keyError(key.name, 'it is a public key, which can only verify');
  return key;
}

function keyError(name: string, reason: string, details: FilingsErrorDetails = {}): FilingsError {
  return new FilingsError('config', reason, { subject: { name }, ...details });
}

function parsePem(text: string, name: string, passphrase: string | undefined): KeyObject {
  try {
    return loadPem(text, passphrase);
  } catch (cause) {
    if (!text.includes('ENCRYPTED')) throw keyError(name, 'the PEM text does not contain a valid key', { cause });
    if (passphrase !== undefined) throw keyError(name, 'the passphrase is wrong, or the key is damaged', { cause });
    const hint = 'put its passphrase into a file, and add --passphrase-file FILE';
    throw keyError(name, 'the key is encrypted', { hint, cause });
  }
}

function parseJwk(bytes: Buffer, name: string): JwtKey {
  const jwk = readJsonObject(bytes, (fault) => keyError(name, `the JWK ${fault}`));
  const fault = findMemberFault(jwk);
  if (fault !== undefined) throw keyError(name, `the JWK cannot be used: ${fault}`);
  const { use, alg, kid, key_ops: keyOps } = jwk as Pick<JwtKey, 'use' | 'alg' | 'kid'> & { key_ops?: string[] };
  const key = toJwtKey(createKeyFromJwk(jwk, name), name);
  // A private JWK with `"key_ops": ["sign"]` also verifies, because its public half is derived from it.
  const addedOps = key.keyObject.type === 'private' && keyOps?.includes('sign') ? ['verify'] : [];
  return { ...key, use, alg, kid, keyOps: keyOps && [...keyOps, ...addedOps] };
}

/** The members that node:crypto does not check. */
function findMemberFault(jwk: JsonObject): string | undefined {
  const { key_ops: ops = [] } = jwk;
  if (!Array.isArray(ops) || ops.some((op) => typeof op !== 'string')) return 'key_ops is not a list of strings';
  return jwk.kty === undefined ? 'kty is missing' : findNonString(jwk, ['kty', 'use', 'alg', 'kid']);
}

function createKeyFromJwk(jwk: JsonObject, name: string): KeyObject {
  const key = { key: jwk as JsonWebKey, format: 'jwk' } as const;
  try {
    // Without `k`, the secret is empty, and key-fit.ts refuses it as too short.
    if (jwk.kty === 'oct') return createSecretKey(String(jwk.k ?? ''), 'base64url');
    return jwk.d === undefined ? createPublicKey(key) : createPrivateKey(key);
  } catch {
    // The cause is dropped, because Node's message may quote a private value.
    throw keyError(name, 'the JWK cannot be used: a member is missing or not valid for its kty');
  }
}

/** `path` is for the hint about a key that was passed as a secret. */
function toJwtKey(original: KeyObject, name: string, path?: string): JwtKey {
  if (original.type === 'secret')
    return { name, keyType: 'secret', keyObject: original, form: findKeyForm(original.export(), path) };
  // Node does not name the type of some keys, such as SM2.
  const keyType = original.asymmetricKeyType ?? 'unknown';
  const isPss = keyType === 'rsa-pss';
  const keyObject = isPss ? convertToRsaKey(original) : original;
  // Private keys of other types cannot sign with SHA-256, and key-fit.ts refuses them with a better reason.
  if (keyObject.type === 'private' && ['rsa', 'rsa-pss', 'ec'].includes(keyType))
    requireMatchingHalves(keyObject, name);
  return { name, keyType, keyObject, ...(isPss && { pss: original.asymmetricKeyDetails }) };
}

/** The restrictions stay in the DER, but OpenSSL ignores them in an ordinary RSA key. */
function convertToRsaKey(key: KeyObject): KeyObject {
  const isPrivate = key.type === 'private';
  const der = isPrivate ? key.export({ format: 'der', type: 'pkcs8' }) : key.export({ format: 'der', type: 'spki' });
  der[der.indexOf(PSS_ID) + PSS_ID.length - 1] = 1;
  const input = { key: der, format: 'der' } as const;
  return isPrivate ? createPrivateKey({ ...input, type: 'pkcs8' }) : createPublicKey({ ...input, type: 'spki' });
}

/**
 * Must come before anything reads `asymmetricKeyDetails`, which crashes Node for some mismatched keys. So `toJwtKey`
 * reads the details of an RSA-PSS key last.
 */
function requireMatchingHalves(keyObject: KeyObject, name: string): void {
  try {
    if (verify('sha256', PROBE, createPublicKey(keyObject), sign('sha256', PROBE, keyObject))) return;
  } catch {
    // A key that cannot even sign is refused like one that does not match.
  }
  throw keyError(name, "the key's parts don't belong together");
}
