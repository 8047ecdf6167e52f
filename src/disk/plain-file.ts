import { constants, createReadStream, type Stats } from 'node:fs';
import { closeFile, openFile, statOf, undefinedIfMissing } from './calls.ts';
import { readFailure } from './failure.ts';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/**
 * A FIFO holds nobody, and a link is followed unless `flags` say otherwise. The stats are of the open file. Throws what
 * the system says.
 */
export async function openPlain(path: string | Buffer, flags: number) {
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

/** Throws as some systems do for what is no regular file. */
export function requirePlain(stats: Stats): void {
  if (stats.isFile()) return;
  throw Object.assign(new Error('not a regular file'), { code: stats.isDirectory() ? 'EISDIR' : 'EFTYPE' });
}

/** Nothing of a file that does not exist. `shown` is its path for people. Throws `local_io`. */
export async function* readPlain(path: string | Buffer, shown: string, flags = 0): AsyncGenerator<Buffer> {
  try {
    const file = await openPlain(path, O_RDONLY | flags).catch(undefinedIfMissing);
    if (file) yield* createReadStream('', { fd: file.fd });
  } catch (error) {
    throw readFailure(error, shown);
  }
}
