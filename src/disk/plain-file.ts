// Opens regular files only. A FIFO or a device in place of a file would block the program or give bytes without end.
import { closeSync, constants, createReadStream, fstatSync, openSync, type Stats } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { readError } from './failure.ts';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Opens a regular file, without blocking on a FIFO. Follows a symbolic link unless `flags` forbid it. Returns the
 * descriptor and the stats of the open file. Throws the system error.
 */
export function openPlain(path: string | Buffer, flags: number): { readonly fd: number; readonly stats: Stats } {
  const fd = openSync(path, flags | O_NONBLOCK | O_NOCTTY);
  try {
    const stats = fstatSync(fd);
    requirePlain(stats);
    return { fd, stats };
  } catch (error) {
    closeSync(fd);
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
    yield* createReadStream('', { fd: openPlain(path, O_RDONLY | flags).fd });
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw readError(error, displayPath);
  }
}
