import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { FilingsError, type Subject } from '../errors.ts';
import { shellWord } from '../text.ts';
import type { SmallFile, World } from '../world.ts';
import { systemReason } from './failure.ts';

/** Bytes. */
const MAX_BYTES = 1024 * 1024;
const WRITTEN_BY_OTHERS = 0o022;

type SecretFileDeps = Pick<World, 'uid' | 'env' | 'interrupt'>;

/** `trusted`: nobody else may change a file; `private`: nor read it. */
type Protection = 'private' | 'trusted';

/** As `readSmallFile`. */
export async function readSecretFile(path: string, what: string, world: SecretFileDeps): Promise<Buffer> {
  return (await readSmallFile(path, what, world, 'private')).bytes;
}

/**
 * 1 MiB at most. A pipe is read to its end, as `<(command)` makes one. What `protection` refuses is not read: another
 * user's pipe may never say a word. The stats are of the open file; `what` is for errors: `API key file`. Throws
 * `config`, with the system's error as its cause; the interrupt's reason.
 */
export async function readSmallFile(
  path: string,
  what: string,
  world: SecretFileDeps,
  protection?: Protection,
): Promise<SmallFile> {
  const subject = { name: what, path };
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stats = fstatSync(fd);
    // A socket, since it waits without holding a thread.
    const pipe = stats.isFIFO()
      ? new Socket({ fd, readable: true, writable: false, signal: world.interrupt })
      : undefined;
    try {
      if (!pipe && !stats.isFile()) throw new FilingsError('config', 'not a regular file', { subject });
      if (protection) checkAccess(stats, protection, what, path, world);
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

/** Throws `config`, whose hint is the command that fixes it. */
export function checkAccess(
  { mode, uid }: Pick<Stats, 'mode' | 'uid'>,
  protection: Protection,
  what: string,
  path: string,
  world: Pick<World, 'uid' | 'env'>,
): void {
  if (world.uid === undefined) return;
  const word = shellWord(path.startsWith('-') ? `./${path}` : path);
  // A file of root's may be there for all to read.
  const fix = `chmod ${protection === 'private' || uid === world.uid ? '600' : 'go-w'} ${word}`;
  if (uid !== world.uid && uid !== 0) {
    throw new FilingsError('config', 'another user owns it', {
      subject: { name: what, path },
      hint: `make it yours: chown "$(id -u)" ${word} && ${fix}`,
    });
  }
  const forbidden = protection === 'trusted' ? WRITTEN_BY_OTHERS : isCredential(path, uid, world) ? 0o026 : 0o066;
  if ((mode & forbidden) === 0) return;
  const verb = (mode & WRITTEN_BY_OTHERS) !== 0 ? 'write' : 'read';
  throw new FilingsError('config', `others can ${verb} it`, { subject: { name: what, path }, hint: fix });
}

/**
 * In systemd's directory of credentials (`LoadCredential=`) a file is root's with an access list for the service's
 * user, whose mask shows as the group's permission: 0440.
 */
function isCredential(path: string, uid: number, { env }: Pick<World, 'env'>): boolean {
  return uid === 0 && env.CREDENTIALS_DIRECTORY !== undefined && dirname(path) === env.CREDENTIALS_DIRECTORY;
}
