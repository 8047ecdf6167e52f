import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import { shellWord } from '../text.ts';
import type { World } from '../world.ts';
import { systemReason } from './failure.ts';

/** Nothing that is read whole is larger. Bytes. */
const LARGEST = 1024 * 1024;

const WRITTEN_BY_OTHERS = 0o022;

export interface OpenedFile {
  readonly bytes: Buffer;
  /** Of the open file, not of what stands under its name by now. */
  readonly stats: Stats;
}

/**
 * Who may have a file open: `private`: nobody else; `trusted`: nobody else may change it; `credential`: as private, but
 * where it is root's, its group may read it, too.
 */
export type Protection = 'private' | 'trusted' | 'credential';
/** What others may not do, by whether root owns the file. */
const FORBIDDEN: Readonly<Record<Protection, (isRoots: boolean) => number>> = {
  private: () => 0o066,
  trusted: () => WRITTEN_BY_OTHERS,
  credential: (isRoots) => (isRoots ? 0o026 : 0o066),
};

/**
 * How a secret at a path is protected. In the directory that systemd made for a service's credentials (`LoadCredential=`)
 * a file is root's with an access list for the service's user, whose mask shows as the group's permission: 0440.
 */
export function secretProtection(path: string, env: World['env']): Protection {
  return env.CREDENTIALS_DIRECTORY && dirname(path) === env.CREDENTIALS_DIRECTORY ? 'credential' : 'private';
}

/**
 * The bytes of a file that holds a secret, 1 MiB at most. Its owner and permissions are checked
 * on the open file: another user's is refused, and one that others can read or write.
 * A pipe is read to its end, as `<(command)` makes one.
 * @param what what the file is, for errors: `API key file`
 * @throws FilingsError `config`
 */
export async function readSecretFile(
  path: string,
  what: string,
  world: Pick<World, 'uid' | 'interrupt' | 'env'>,
): Promise<Buffer> {
  const protection = secretProtection(path, world.env);
  const check = (stats: Stats) => checkAccess(stats, protection, `${what} ${path}`, path, world.uid);
  const { bytes } = await readSmallFile(path, what, world.interrupt, check);
  return bytes;
}

/**
 * A whole file with what the system says of it.
 * @param check looks at the open file before anything is read: another user's pipe may never say a word
 * @throws FilingsError `config`, with the system's error as its cause; what `check` throws
 */
export async function readSmallFile(
  path: string,
  what: string,
  signal: AbortSignal,
  check?: (stats: Stats) => void,
): Promise<OpenedFile> {
  const name = `${what} ${path}`;
  const fd = translated(name, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY));
  let mine = true;
  try {
    const stats = fstatSync(fd);
    if (stats.isFIFO() || stats.isFile()) check?.(stats);
    if (stats.isFIFO()) {
      mine = false;
      return { bytes: await readPipe(fd, name, signal), stats };
    }
    if (!stats.isFile()) throw new FilingsError('config', `${name}: not a regular file`);
    if (stats.size > LARGEST) throw tooLarge(name);
    return { bytes: translated(name, () => readFileSync(fd)), stats };
  } finally {
    if (mine) closeSync(fd);
  }
}

/**
 * Refuses a file that somebody else may have a hand in.
 * @throws FilingsError `config`, whose hint is the command that mends it
 */
export function checkAccess(
  stats: Pick<Stats, 'mode' | 'uid'>,
  protection: Protection,
  name: string,
  path: string,
  uid: number | undefined,
): void {
  if (uid === undefined) return;
  const word = shellWord(path.startsWith('-') ? `./${path}` : path);
  // A file of root's may be there for all to read.
  const mend = `chmod ${protection !== 'trusted' || stats.uid === uid ? '600' : 'go-w'} ${word}`;
  if (stats.uid !== uid && stats.uid !== 0) {
    throw new FilingsError('config', `${name}: another user owns it`, {
      hint: `make it yours: chown "$(id -u)" ${word} && ${mend}`,
    });
  }
  if ((stats.mode & FORBIDDEN[protection](stats.uid === 0)) === 0) return;
  const verb = (stats.mode & WRITTEN_BY_OTHERS) !== 0 ? 'write' : 'read';
  throw new FilingsError('config', `${name}: others can ${verb} it`, { hint: mend });
}

/** Closes the descriptor. A socket, since it waits for a pipe without holding a thread. */
async function readPipe(fd: number, name: string, signal: AbortSignal): Promise<Buffer> {
  const pipe = new Socket({ fd, readable: true, writable: false, signal });
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of pipe as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LARGEST) throw tooLarge(name);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof FilingsError ? error : unreadable(name, error);
  } finally {
    pipe.destroy();
  }
  return Buffer.concat(chunks);
}

function translated<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof FilingsError ? error : unreadable(name, error);
  }
}

function unreadable(name: string, cause: unknown): FilingsError {
  const errno = errnoOf(cause);
  const why =
    errno === 'ENOENT' || errno === 'ENOTDIR'
      ? 'no such file'
      : errno === 'EACCES' || errno === 'EPERM'
        ? 'no permission to read it'
        : `cannot be read: ${systemReason(cause)}`;
  return new FilingsError('config', `${name}: ${why}`, { cause });
}

function tooLarge(name: string): FilingsError {
  return new FilingsError('config', `${name}: larger than 1 MiB`);
}
