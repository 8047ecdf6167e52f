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

/**
 * Opens a regular file: a FIFO holds nobody, and a link is followed unless `flags` say otherwise. Throws what the system
 * says, and of anything else what some systems do.
 */
export async function openPlain(path: string | Buffer, flags: number): Promise<OpenPlain> {
  const fd = await openFile(path, flags | O_NONBLOCK | O_NOCTTY);
  try {
    const stats = await statOf(fd);
    if (stats.isFile()) return { fd, stats };
    throw Object.assign(new Error('not a regular file'), { code: stats.isDirectory() ? 'EISDIR' : 'EFTYPE' });
  } catch (error) {
    await closeFile(fd);
    throw error;
  }
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

/** Opens a file of our own: regular, this user's, with no second name. Undefined when it is missing, or another's. Never throws. */
export async function openOwn(path: string, flags: number, uid: number | undefined): Promise<OpenPlain | undefined> {
  const opened = await openPlain(path, flags | O_NOFOLLOW).catch(() => undefined);
  if (!opened) return undefined;
  if (opened.stats.nlink === 1 && (uid === undefined || opened.stats.uid === uid)) return opened;
  await closeFile(opened.fd);
  return undefined;
}

/** Why something is no regular file; undefined when it is one. */
export function whyNotPlain(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  return stats.isDirectory() ? 'it is a directory' : 'it is no plain file';
}
