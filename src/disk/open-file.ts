// Opens files that may be something else. Opening a FIFO could block the program, and reading a device such as
// /dev/zero never ends. So the program's own files must be regular, and only those that users name may be pipes
// (`openForReading`).
import { closeSync, constants, createReadStream, fstatSync, openSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { errnoOf } from '../errors.ts';
import { toReadError } from './failure.ts';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

interface OpenFile {
  readonly fd: number;
  readonly stats: Stats;
}

/**
 * O_NONBLOCK and O_NOCTTY prevent two effects of opening something else than a regular file: waiting for the other end
 * of a FIFO, and making a terminal the controlling terminal of this process.
 */
function openAny(path: string, flags: number): OpenFile {
  const fd = openSync(path, flags | O_NONBLOCK | O_NOCTTY);
  return { fd, stats: fstatSync(fd) };
}

/** Follows a symbolic link unless `flags` contain O_NOFOLLOW. */
export function openRegular(path: string, flags: number): OpenFile {
  const opened = openAny(path, flags);
  try {
    requireRegular(opened.stats);
    return opened;
  } catch (error) {
    closeSync(opened.fd);
    throw error;
  }
}

/**
 * Throws EISDIR for a directory, and EFTYPE, a code of BSD, for anything else that is not a regular file. `failure.ts`
 * has words for both.
 */
export function requireRegular(stats: Stats): void {
  if (stats.isFile()) return;
  throw Object.assign(new Error('not a regular file'), { code: stats.isDirectory() ? 'EISDIR' : 'EFTYPE' });
}

/** A missing file is treated as empty: the done list or SHA256SUMS that a caller reads need not exist yet. */
export async function* readRegular(path: string, displayPath: string, flags = 0): AsyncGenerator<Buffer> {
  try {
    // Node ignores the path because there is a descriptor, which the stream closes at its end.
    yield* createReadStream('', { fd: openRegular(path, O_RDONLY | flags).fd });
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw toReadError(error, displayPath);
  }
}

/**
 * For a path that may be a pipe, such as that of `<(command)`. `signal` ends the wait for the writer of a FIFO. The
 * caller must read the stream to its end or destroy it, whatever the stats of the opened file say.
 */
export function openForReading(
  path: string,
  { signal, ...readOptions }: { readonly signal?: AbortSignal; readonly highWaterMark?: number },
): { readonly stats: Stats; readonly stream: Readable } {
  const { fd, stats } = openAny(path, O_RDONLY);
  if (!stats.isFIFO()) return { stats, stream: createReadStream('', { fd, ...readOptions }) };
  // A plain read of a FIFO that has no writer yet returns the end of the file. Node's `Socket` waits until there is
  // something to read, and blocks no thread.
  return { stats, stream: new Socket({ fd, readable: true, writable: false, ...(signal && { signal }) }) };
}
