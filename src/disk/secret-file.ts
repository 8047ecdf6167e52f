// Reads small files that may have secrets: API keys, private keys and the config file. Refuses a file that other users
// may read or change, with the command that fixes its permissions.
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { FilingsError, type Subject } from '../errors.ts';
import { shellWord } from '../text.ts';
import type { SmallFile, World } from '../world.ts';
import { systemReason } from './failure.ts';

/** The largest size that is read, in bytes. */
const MAX_BYTES = 1024 * 1024;
const WRITTEN_BY_OTHERS = 0o022;

type SecretFileDeps = Pick<World, 'uid' | 'env' | 'interrupt'>;

/** `trusted`: no other user may change the file. `private`: no other user may read or change the file. */
type Protection = 'private' | 'trusted';

/** Returns the bytes of a private file. Throws as `readSmallFile` does. */
export async function readSecretFile(path: string, name: string, world: SecretFileDeps): Promise<Buffer> {
  return (await readSmallFile(path, name, world, 'private')).bytes;
}

/**
 * Returns the bytes of a file of at most 1 MiB, and the stats of the open file. Reads a pipe, such as that of
 * `<(command)`, to its end. Checks `protection` before reading, because another user's pipe may never end. `name`
 * describes the file in errors, such as `API key file`. Throws `config` with the system error as its cause, the
 * interrupt's reason.
 */
export async function readSmallFile(
  path: string,
  name: string,
  world: SecretFileDeps,
  protection?: Protection,
): Promise<SmallFile> {
  const subject = { name, path };
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stats = fstatSync(fd);
    // A socket waits for a pipe without blocking a thread.
    const pipe = stats.isFIFO()
      ? new Socket({ fd, readable: true, writable: false, signal: world.interrupt })
      : undefined;
    try {
      if (!pipe && !stats.isFile()) throw new FilingsError('config', 'not a regular file', { subject });
      if (protection) checkAccess(stats, protection, name, path, world);
      if (stats.size > MAX_BYTES) throw tooLarge(subject);
      return { bytes: pipe ? await readPipe(pipe, subject) : readFileSync(fd), stats };
    } finally {
      if (pipe) pipe.destroy();
      else closeSync(fd);
    }
  } catch (cause) {
    if (cause instanceof FilingsError) throw cause;
    world.interrupt.throwIfAborted();
    throw new FilingsError('config', systemReason(cause), { subject, cause });
  }
}

async function readPipe(pipe: Socket, subject: Subject): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of pipe as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BYTES) throw tooLarge(subject);
  }
  return Buffer.concat(chunks);
}

function tooLarge(subject: Subject): FilingsError {
  return new FilingsError('config', 'larger than 1 MiB', { subject });
}

/**
 * Throws `config` if other users have too much access to a file. The hint is the command that fixes the permissions.
 */
export function checkAccess(
  { mode, uid }: Pick<Stats, 'mode' | 'uid'>,
  protection: Protection,
  name: string,
  path: string,
  world: Pick<World, 'uid' | 'env'>,
): void {
  if (world.uid === undefined) return;
  const word = shellWord(path.startsWith('-') ? `./${path}` : path);
  // Other users may have to read a file of root, so the command keeps their read permission.
  const fix = `chmod ${protection === 'private' || uid === world.uid ? '600' : 'go-w'} ${word}`;
  if (uid !== world.uid && uid !== 0) {
    throw new FilingsError('config', 'another user owns it', {
      subject: { name, path },
      hint: `make it yours: chown "$(id -u)" ${word} && ${fix}`,
    });
  }
  const forbidden = protection === 'trusted' ? WRITTEN_BY_OTHERS : isCredential(path, uid, world) ? 0o026 : 0o066;
  if ((mode & forbidden) === 0) return;
  const verb = (mode & WRITTEN_BY_OTHERS) !== 0 ? 'write' : 'read';
  throw new FilingsError('config', `others can ${verb} it`, { subject: { name, path }, hint: fix });
}

/**
 * Returns whether a file is a credential of systemd (`LoadCredential=`). It belongs to root and has an access list for
 * the service's user. The mask of the list appears as the group's permission, so the mode is 0440.
 */
function isCredential(path: string, uid: number, { env }: Pick<World, 'env'>): boolean {
  return uid === 0 && env.CREDENTIALS_DIRECTORY !== undefined && dirname(path) === env.CREDENTIALS_DIRECTORY;
}
