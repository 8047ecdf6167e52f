// Reads small files that may hold secrets: API keys, private keys and the config file. Refuses a file to which other
// users have more access than its `Protection` allows, with an error whose hint says how to fix that.
import type { Stats } from 'node:fs';
import { FilingsError } from '../errors.ts';
import { shellWord } from '../text.ts';
import type { World } from '../world.ts';
import { systemReason } from './failure.ts';
import { openStream } from './open-file.ts';

const MAX_BYTES = 1024 * 1024;
const CHECK_PATH = 'check the path, and who may read it';
// Permissions of the group and of all others: to write, and to read or write.
const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o066;

type SecretFileDeps = Pick<World, 'uid' | 'interrupt'>;

/**
 * What other users must not be able to do. `private`: to read or to change the file, because it holds a secret.
 * `trusted`: to change it, because it decides where a secret is sent. They may read it.
 */
export type Protection = 'private' | 'trusted';

interface SmallFile {
  readonly bytes: Buffer;
  /** From the open descriptor, because the file at the path may have been replaced since. */
  readonly stats: Stats;
}

export async function readSecretFile(path: string, name: string, world: SecretFileDeps): Promise<Buffer> {
  return (await readSmallFile(path, name, world, 'private')).bytes;
}

/**
 * Checks `protection` before it reads, because another user's pipe may never end. Without `protection`, the caller
 * calls `checkAccess` afterwards: only its content says whether a key file may be public. `name` is the word for the
 * file in errors. Throws `config`, whose cause is the system error if there was one.
 */
export async function readSmallFile(
  path: string,
  name: string,
  world: SecretFileDeps,
  protection?: Protection,
): Promise<SmallFile> {
  const subject = { name, path };
  try {
    const { stats, stream } = openStream(path, { signal: world.interrupt });
    try {
      if (!stats.isFIFO() && !stats.isFile())
        throw new FilingsError('config', 'not a regular file', { subject, hint: CHECK_PATH });
      if (protection) checkAccess(stats, protection, name, path, world);
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of stream) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MAX_BYTES) throw new FilingsError('config', 'larger than 1 MiB', { subject, hint: CHECK_PATH });
      }
      return { bytes: Buffer.concat(chunks), stats };
    } finally {
      stream.destroy();
    }
  } catch (cause) {
    if (cause instanceof FilingsError) throw cause;
    // An interrupt makes the stream throw an AbortError.
    world.interrupt.throwIfAborted();
    throw new FilingsError('config', systemReason(cause), { subject, hint: CHECK_PATH, cause });
  }
}

/**
 * Throws `config` if a user other than this one and root owns the file, or if others have too much access to it. A file
 * of root may be readable for all, because that is how containers mount secrets.
 */
export function checkAccess(
  { mode, uid }: Pick<Stats, 'mode' | 'uid'>,
  protection: Protection,
  name: string,
  path: string,
  world: Pick<World, 'uid'>,
): void {
  // Windows has no user IDs and no such permissions.
  if (world.uid === undefined) return;
  const subject = { name, path };
  const quotedPath = shellWord(path);
  // The commands of the hints must work for the user who runs this program. Only root may change files of others.
  const sudo = world.uid === 0 ? '' : 'sudo ';
  if (uid !== world.uid && uid !== 0) {
    // Only a secret can also be passed without a file.
    const instead =
      protection === 'private'
        ? 'pass the key in the environment or on stdin'
        : `make it yours: ${sudo}chown ${world.uid} ${quotedPath}`;
    const hint = `run as the user who owns it (uid ${uid}), or ${instead}`;
    throw new FilingsError('config', 'another user owns it', { subject, hint });
  }
  // A file of root may be readable even if root itself runs the program, as in many containers.
  const forbidden = protection === 'trusted' || uid === 0 ? WRITABLE_BY_OTHERS : OPEN_TO_OTHERS;
  if ((mode & forbidden) === 0) return;
  const verb = (mode & WRITABLE_BY_OTHERS) !== 0 ? 'write' : 'read';
  const hint = uid === world.uid ? `chmod 600 ${quotedPath}` : `${sudo}chmod go-w ${quotedPath}`;
  throw new FilingsError('config', `other users can ${verb} it`, { subject, hint });
}

/**
 * Throws `local_io` if `checkAccess` would refuse a file that was just created. Some file systems keep no permissions,
 * such as those of Windows under Linux, so a `chmod` would not help.
 */
export function requireKeptPermissions(
  stats: Stats,
  protection: Protection,
  path: string,
  world: Pick<World, 'uid'>,
): void {
  try {
    checkAccess(stats, protection, '', path, world);
  } catch (cause) {
    if (!(cause instanceof FilingsError)) throw cause;
    const reason = `not created, because the file system does not keep its permissions: ${cause.reason}`;
    throw new FilingsError('local_io', reason, {
      subject: { path },
      hint: 'choose a path on another file system',
      cause,
    });
  }
}
