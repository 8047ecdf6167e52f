// Reads and loads keys for tokens: PEM, JWK, or the bytes of a secret. Gives keys of node:crypto, and rejects damaged
// ones. `key-fit.ts` decides what a key may be used for.
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
import { textOf } from '../text.ts';
import type { World } from '../world.ts';
import { ARMOUR, findKeyForm, loadPem } from './key-forms.ts';
import { readJsonObject, textFault } from './token.ts';

export type Purpose = 'sign' | 'verify';

/** A key that could be read. `keyFault` decides about its use. */
export interface JwtKey {
  /** The source of the key, for messages. */
  readonly name: string;
  /** Its file, for hints. A key from stdin has none. */
  readonly path?: string | undefined;
  /** `rsa`, `rsa-pss`, `ec`, `ed25519` or another name that node:crypto has; or `secret`. */
  readonly kind: string;
  /** The key. An RSA-PSS key is converted to an ordinary RSA key, because jose accepts no other. */
  readonly keyObject: KeyObject;
  /** The restrictions of an RSA-PSS key (RFC 8017, appendix C). */
  readonly pss?: KeyObject['asymmetricKeyDetails'];
  readonly kid?: string | undefined;
  /** The restrictions of a JWK (RFC 7517, section 4). */
  readonly use?: string | undefined;
  readonly keyOps?: readonly string[] | undefined;
  readonly alg?: string | undefined;
}

/** The largest file of a key. A key with a prime of 30 kB takes 28 s. */
const MAX_KIB = 16;
const PROBE = Buffer.from('probe');

/** Absolute paths. Either `keyFile` or `secretFile` is set, or `stdin` replaces it. */
export interface KeyFiles {
  readonly keyFile?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly passphraseFile?: string | undefined;
  /** The contents of stdin, if the key or the secret is read from it. */
  readonly stdin?: Buffer | undefined;
}

/** Returns the key. Others may read the file of a public key, but no other. Throws `config`. */
export async function readJwtKey(files: KeyFiles, purpose: Purpose, world: World): Promise<JwtKey> {
  const { keyFile = '', secretFile, passphraseFile, stdin } = files;
  const isSecret = secretFile !== undefined;
  const kind = isSecret ? 'secret file' : 'key file';
  const path = stdin ? undefined : (secretFile ?? keyFile);
  const name = `${kind} ${path ?? '(stdin)'}`;
  const file =
    path === undefined ? undefined : await readSmallFile(path, kind, world, isSecret ? 'private' : undefined);
  const bytes = file?.bytes ?? stdin ?? Buffer.of();
  const passphrase = passphraseFile === undefined ? undefined : await readPassphrase(passphraseFile, world);
  const key = isSecret ? loadSecret(bytes, name, path) : loadKey(bytes, name, { passphrase, path });
  const { keyObject } = key;
  if (file && path && keyObject.type !== 'public') checkAccess(file.stats, 'private', kind, path, world);
  // A message may quote a secret without its line break.
  if (keyObject.type === 'secret')
    world.secrets.add(Buffer.from(keyObject.export().toString('latin1').trimEnd(), 'latin1'));
  return keyFor(purpose, key);
}

async function readPassphrase(path: string, world: World): Promise<string> {
  const text = textOf(await readSecretFile(path, 'passphrase file', world));
  world.secrets.add(text.trimEnd());
  // An editor adds this line break.
  return text.replace(/\r?\n$/, '');
}

interface LoadOptions {
  readonly passphrase?: string | undefined;
  readonly path?: string | undefined;
}

/** Reads a PEM key or a JWK. Throws `config`, and never quotes the text. */
export function loadKey(bytes: Buffer, name: string, { passphrase, path }: LoadOptions = {}): JwtKey {
  requireSize(bytes, name);
  const text = textOf(bytes);
  const form = findKeyForm(bytes, text, path);
  if (form !== undefined) throw unfit(name, `it is ${form.seen}`, { hint: form.hint });
  if (text.includes(ARMOUR)) return toJwtKey(pemKey(text, name, passphrase), name, path);
  if (/^\s*\{/.test(text)) return { ...jwkKey(Buffer.from(text), name), path };
  throw unfit(name, 'it is neither a PEM key nor a JWK', { hint: 'a secret is given with --secret-file' });
}

/** Returns the bytes as an HMAC secret. Nothing is trimmed. Throws `config`. */
export function loadSecret(bytes: Buffer, name: string, path?: string): JwtKey {
  requireSize(bytes, name);
  return toJwtKey(createSecretKey(bytes), name, path);
}

function requireSize({ length }: Buffer, name: string): void {
  if (length === 0) throw unfit(name, 'it is empty');
  if (length > MAX_KIB * 1024) throw unfit(name, `larger than ${MAX_KIB} KiB`);
}

/** Returns the key for a purpose: a private key verifies with its public half. Throws `config`. */
export function keyFor(purpose: Purpose, key: JwtKey): JwtKey {
  const { type } = key.keyObject;
  if (purpose === 'verify' && type === 'private') return { ...key, keyObject: createPublicKey(key.keyObject) };
  if (purpose === 'sign' && type === 'public') throw unfit(key.name, 'it is a public key, which can only verify');
  return key;
}

/** The last byte is likely an editor's, not the secret's. */
export function lineBreakWarning({ name, keyObject }: JwtKey): string | undefined {
  if (keyObject.type !== 'secret' || !/^[\t\x20-\x7e\r\n]*\n$/.test(keyObject.export().toString('latin1'))) return;
  return `${name}: the secret ends in a line break, which is taken as a part of it`;
}

function unfit(name: string, reason: string, details: Pick<FilingsErrorDetails, 'hint' | 'cause'> = {}): FilingsError {
  return new FilingsError('config', reason, { subject: { name }, ...details });
}

function pemKey(text: string, name: string, passphrase: string | undefined): KeyObject {
  try {
    return loadPem(text, passphrase);
  } catch (cause) {
    if (!text.includes('ENCRYPTED')) throw unfit(name, 'the PEM text does not contain a valid key', { cause });
    if (passphrase !== undefined) throw unfit(name, 'the passphrase is wrong, or the key is damaged', { cause });
    throw unfit(name, 'the key is encrypted', {
      hint: 'name the file of its passphrase with --passphrase-file',
      cause,
    });
  }
}

/** Reads a JWK of type RSA, EC, `oct` or OKP; the error about OKP comes later and names the reason. */
function jwkKey(bytes: Buffer, name: string): JwtKey {
  const jwk = readJsonObject(bytes);
  if (typeof jwk === 'string') throw unfit(name, `the JWK ${jwk}`);
  const fault = memberFault(jwk);
  if (fault !== undefined) throw unfit(name, `the JWK cannot be used: ${fault}`);
  const { use, alg, kid, key_ops: keyOps } = jwk as Pick<JwtKey, 'use' | 'alg' | 'kid'> & { key_ops?: string[] };
  const key = toJwtKey(jwkObject(jwk, name), name);
  // A key that may sign may also verify its own signatures.
  const further = key.keyObject.type === 'private' && keyOps?.includes('sign') ? ['verify'] : [];
  return { ...key, use, alg, kid, keyOps: keyOps && [...keyOps, ...further] };
}

/** Returns the first fault that node:crypto ignores or repairs, or undefined. */
function memberFault(jwk: JsonObject): string | undefined {
  const { key_ops: ops = [] } = jwk;
  if (!Array.isArray(ops) || ops.some((op) => typeof op !== 'string')) return 'key_ops is not a list of strings';
  return jwk.kty === undefined ? 'kty is missing' : textFault(jwk, ['kty', 'use', 'alg', 'kid']);
}

function jwkObject(jwk: JsonObject, name: string): KeyObject {
  const key = { key: jwk as JsonWebKey, format: 'jwk' } as const;
  try {
    if (jwk.kty === 'oct') return createSecretKey(String(jwk.k ?? ''), 'base64url');
    return jwk.d === undefined ? createPublicKey(key) : createPrivateKey(key);
  } catch {
    // Some messages of Node quote the value at fault, which may be private.
    throw unfit(name, 'the JWK cannot be used: a member is missing, or not what its kty wants');
  }
}

function toJwtKey(original: KeyObject, name: string, path?: string): JwtKey {
  const kind = original.asymmetricKeyType ?? 'secret';
  const isPss = kind === 'rsa-pss';
  const keyObject = isPss ? asRsaKey(original) : original;
  if (keyObject.type === 'private' && /^(rsa|ec)/.test(kind)) requireSoundPair(keyObject, name);
  return { name, path, kind, keyObject, ...(isPss && { pss: original.asymmetricKeyDetails }) };
}

/** Converts an RSA-PSS key to an RSA key. Its SPKI and its PKCS#8 end with the PKCS#1 form. */
function asRsaKey(key: KeyObject): KeyObject {
  const isPrivate = key.type === 'private';
  const der = isPrivate ? key.export({ format: 'der', type: 'pkcs8' }) : key.export({ format: 'der', type: 'spki' });
  // Finds the first long sequence inside the outer one.
  const inner = { key: der.subarray(der.indexOf(Buffer.of(0x30, 0x82), 1)), format: 'der', type: 'pkcs1' } as const;
  return isPrivate ? createPrivateKey(inner) : createPublicKey(inner);
}

/**
 * Throws `config` unless the public half verifies what the private key signs. Node crashes when it reads the details of
 * some unsound keys.
 */
function requireSoundPair(keyObject: KeyObject, name: string): void {
  try {
    if (verify('sha256', PROBE, createPublicKey(keyObject), sign('sha256', PROBE, keyObject))) return;
  } catch {
    // The key is refused below.
  }
  throw unfit(name, "the key's parts don't belong together");
}
