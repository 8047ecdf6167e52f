// Opens regular files only. A FIFO or a device in place of a file would block the program or give bytes without end.
import { constants, createReadStream, type Stats } from 'node:fs';
import { closeFile, openFile, statOf, undefinedIfMissing } from './calls.ts';
import { readError } from './failure.ts';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Opens a regular file, without blocking on a FIFO. Follows a symbolic link unless `flags` forbid it. Returns the
 * descriptor and the stats of the open file. Throws the system error.
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

/** Throws `EISDIR` or `EFTYPE`, as some systems do, if the file is not a regular one. */
export function requirePlain(stats: Stats): void {
  if (stats.isFile()) return;
  throw Object.assign(new Error('not a regular file'), { code: stats.isDirectory() ? 'EISDIR' : 'EFTYPE' });
}

/** Yields the bytes of a regular file, or none if the file does not exist. Throws `local_io`. */
export async function* readPlain(path: string | Buffer, displayPath: string, flags = 0): AsyncGenerator<Buffer> {
  try {
    const file = await openPlain(path, O_RDONLY | flags).catch(undefinedIfMissing);
    if (file) yield* createReadStream('', { fd: file.fd });
  } catch (error) {
    throw readError(error, displayPath);
  }
}
