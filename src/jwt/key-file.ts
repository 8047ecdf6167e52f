import { checkAccess, readSecretFile, readSmallFile } from '../disk/secret-file.ts';
import type { World } from '../world.ts';
import { type JwtKey, keyFor, loadKey, loadSecret, type Purpose } from './keys.ts';

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
  const { secretFile, passphraseFile } = files;
  if (secretFile !== undefined) return readSecret(secretFile, files, world);
  const passphrase = passphraseFile === undefined ? undefined : await readPassphrase(passphraseFile, world);
  const key = files.stdin
    ? loadKey(files.stdin, 'key file (stdin)', passphrase)
    : await readKeyFile(files.keyFile ?? '', passphrase, world);
  if (key.kind === 'secret') world.secrets.add(key.keyObject.export() as Buffer);
  return keyFor(purpose, key);
}

async function readSecret(path: string, { stdin }: KeyFiles, world: World): Promise<JwtKey> {
  const bytes = stdin ?? (await readSecretFile(path, 'secret file', world));
  const secret = loadSecret(bytes, `secret file ${stdin ? '(stdin)' : path}`);
  // A message may quote the secret without its line break.
  world.secrets.add(Buffer.from(bytes.toString('latin1').replace(/[\r\n]+$/, ''), 'latin1'));
  return secret;
}

async function readKeyFile(path: string, passphrase: string | undefined, world: World): Promise<JwtKey> {
  const { bytes, stats } = await readSmallFile(path, 'key file', world);
  const key = loadKey(bytes, `key file ${path}`, passphrase);
  if (key.keyObject.type !== 'public') checkAccess(stats, 'private', 'key file', path, world);
  return key;
}

async function readPassphrase(path: string, world: World): Promise<string> {
  const text = (await readSecretFile(path, 'passphrase file', world)).toString();
  world.secrets.add(text.trimEnd());
  // An editor adds this line break.
  return text.replace(/\r?\n$/, '');
}
