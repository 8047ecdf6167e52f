import { constants, createReadStream, type Stats } from 'node:fs';
import { closeFile, openFile, statOf, undefinedIfMissing } from './calls.ts';
import { readFailure } from './failure.ts';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

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

/** Why something is no regular file; undefined when it is one. */
export function whyNotPlain(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  return stats.isDirectory() ? 'it is a directory' : 'it is no plain file';
}
