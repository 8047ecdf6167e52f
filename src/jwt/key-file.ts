import { checkAccess, readSecretFile, readSmallFile, secretProtection } from '../disk/secret-file.ts';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { isPublicMaterial, type JwtKey, loadKey, loadSecret, type Purpose, requireKeySize } from './keys.ts';

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
 * Reads a key; a file with nothing but a public one may be readable by all.
 *
 * @throws FilingsError `config`: missing, readable by others, or no key for that purpose
 */
export async function readJwtKey(files: KeyFiles, purpose: Purpose, world: KeyWorld): Promise<JwtKey> {
  const { keyFile, secretFile, passphraseFile, stdin } = files;
  if (secretFile !== undefined)
    return loadSecret(await readSecret(secretFile, 'secret file', stdin, world), nameOf('secret file', secretFile));
  if (keyFile === undefined) throw new FilingsError('usage', 'no key: neither a key file nor a secret file is given');
  const bytes = keyFile === '-' && stdin ? stdin : await readKeyFile(keyFile, world);
  const passphrase = passphraseFile && (await readSecret(passphraseFile, 'passphrase file', stdin, world)).toString();
  // One line break at the end is the editor's, not the passphrase's.
  const key = loadKey(bytes, nameOf('key file', keyFile), purpose, passphrase?.replace(/\r?\n$/, ''));
  if (key.kind === undefined) remember(key.keyObject.export(), world);
  return key;
}

async function readKeyFile(path: string, world: KeyWorld): Promise<Buffer> {
  const { bytes, stats } = await readSmallFile(path, 'key file', world.interrupt);
  if (isPublicMaterial(bytes)) return bytes;
  checkAccess(stats, secretProtection(path, world.env), `key file ${path}`, path, world.uid);
  return bytes;
}

async function readSecret(path: string, what: string, stdin: Buffer | undefined, world: KeyWorld): Promise<Buffer> {
  const bytes = path === '-' && stdin ? stdin : await readSecretFile(path, what, world);
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
