import { constants, createReadStream, type Stats } from 'node:fs';
import { closeFile, openFile, statOf, undefinedIfMissing } from './calls.ts';
import { readFailure } from './failure.ts';

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** A regular file that is open; whoever has it closes it. */
export interface OpenPlain {
  readonly fd: number;
  /** Of the open file, not of what has its name by now. */
  readonly stats: Stats;
}

/** Opens a regular file: a FIFO holds nobody, and a link is followed unless `flags` say otherwise. Throws what the system says. */
export async function openPlain(path: string | Buffer, flags: number): Promise<OpenPlain> {
  const fd = await openFile(path, flags | O_NONBLOCK | O_NOCTTY);
  try {
    const stats = await statOf(fd);
    requirePlain(stats);
    return { fd, stats };
  } catch (error) {
    await closeFile(fd);
    throw error;
  }
}

/** Throws, as some systems do, for what is no regular file. */
export function requirePlain(stats: Stats): void {
  if (stats.isFile()) return;
  throw Object.assign(new Error('not a regular file'), { code: stats.isDirectory() ? 'EISDIR' : 'EFTYPE' });
}

/** Opens a file of our own: regular, this user's, with no second name. Undefined when it is missing, or another's. Never throws. */
export async function openOwn(path: string, flags: number, uid: number | undefined): Promise<OpenPlain | undefined> {
  const opened = await openPlain(path, flags | O_NOFOLLOW).catch(() => undefined);
  if (!opened) return undefined;
  if (opened.stats.nlink === 1 && (uid === undefined || opened.stats.uid === uid)) return opened;
  await closeFile(opened.fd);
  return undefined;
}

/** What is in a regular file, some bytes at a time; nothing of one that does not exist. `shown` is its path for people. Throws `local_io`. */
export async function* readPlain(path: string | Buffer, shown: string, flags = 0): AsyncGenerator<Buffer> {
  try {
    const file = await openPlain(path, O_RDONLY | flags).catch(undefinedIfMissing);
    // The stream closes it.
    if (file) yield* createReadStream('', { fd: file.fd });
  } catch (error) {
    throw readFailure(error, shown);
  }
}
