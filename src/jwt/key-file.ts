import { checkAccess, readSecretFile, readSmallFile, secretProtection } from '../disk/secret-file.ts';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import {
  isPublicMaterial,
  type JwtKey,
  loadSecret,
  loadSigningKey,
  loadVerificationKey,
  requireKeySize,
} from './keys.ts';

/** Which file holds the key, by absolute paths; exactly one of the first two. `-` is stdin. */
export interface KeyFiles {
  readonly keyFile?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly passphraseFile?: string | undefined;
  /** What came from stdin, where one of them is `-`. */
  readonly stdin?: Buffer | undefined;
}

type KeyWorld = Pick<World, 'uid' | 'interrupt' | 'secrets' | 'env'>;

/** Shorter ones, which are good for no HMAC, may be words of a message. Bytes. */
const SHORTEST_SECRET = 16;

/**
 * Reads a key to sign with.
 *
 * @throws FilingsError `config`: missing, readable by others, or not such a key
 */
export function readSigningKey(files: KeyFiles, world: KeyWorld): Promise<JwtKey> {
  return readKey(files, world, loadSigningKey);
}

/**
 * Reads a key to verify with; a file with nothing but a public key may be readable by all.
 *
 * @throws FilingsError `config`: missing, a private key readable by others, or no key
 */
export function readVerificationKey(files: KeyFiles, world: KeyWorld): Promise<JwtKey> {
  return readKey(files, world, loadVerificationKey);
}

async function readKey(files: KeyFiles, world: KeyWorld, load: typeof loadSigningKey): Promise<JwtKey> {
  const { keyFile, secretFile, passphraseFile } = files;
  if (secretFile !== undefined)
    return loadSecret(await readSecret(secretFile, 'secret file', files, world), nameOf('secret file', secretFile));
  if (keyFile === undefined) throw new FilingsError('usage', 'no key: neither a key file nor a secret file is given');
  const bytes = await readKeyFile(keyFile, files, world);
  const passphrase = passphraseFile === undefined ? undefined : await readPassphrase(passphraseFile, files, world);
  const key = load(bytes, nameOf('key file', keyFile), passphrase);
  if (key.kind === undefined) remember(key.keyObject.export(), world);
  return key;
}

async function readKeyFile(path: string, { stdin }: KeyFiles, world: KeyWorld): Promise<Buffer> {
  if (path === '-' && stdin !== undefined) return stdin;
  const { bytes, stats } = await readSmallFile(path, 'key file', world.interrupt);
  if (isPublicMaterial(bytes)) return bytes;
  checkAccess(stats, secretProtection(path, world.env), `key file ${path}`, path, world.uid);
  return bytes;
}

/** One line break at the end is the editor's, not the passphrase's. */
async function readPassphrase(path: string, files: KeyFiles, world: KeyWorld): Promise<string> {
  const bytes = await readSecret(path, 'passphrase file', files, world);
  return bytes.toString('utf8').replace(/\r?\n$/, '');
}

async function readSecret(path: string, what: string, { stdin }: KeyFiles, world: KeyWorld): Promise<Buffer> {
  const bytes = path === '-' && stdin !== undefined ? stdin : await readSecretFile(path, what, world);
  requireKeySize(bytes, nameOf(what, path));
  remember(bytes, world);
  return bytes;
}

/** In every form that text could show it in. */
function remember(secret: Buffer, { secrets }: KeyWorld): void {
  if (secret.length < SHORTEST_SECRET) return;
  secrets.add(secret.toString('utf8').trimEnd());
  for (const encoding of ['hex', 'base64', 'base64url'] as const) secrets.add(secret.toString(encoding));
}

function nameOf(what: string, path: string): string {
  return path === '-' ? `${what} (stdin)` : `${what} ${path}`;
}
