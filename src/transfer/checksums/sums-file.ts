import { close, constants, fstat, open } from 'node:fs';
import { promisify } from 'node:util';
import { readFailure } from '../../disk/failure.ts';
import { errnoOf, FilingsError } from '../../errors.ts';

const openAt = promisify(open);
const closeFd = promisify(close);
const statFd = promisify(fstat);
const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** A checksum file that is open to be read: what was opened stays what is read, whatever replaces it meanwhile. */
export interface OpenSums {
  readonly fd: number;
  /** When it was last changed, in nanoseconds since the epoch. */
  readonly changed: bigint;
  close(): Promise<void>;
}

/** Opens a checksum file; undefined when there is none. No link is followed, no FIFO waited for. Throws `local_io`. */
export async function openSums(path: string | Buffer, shown: string): Promise<OpenSums | undefined> {
  let fd: number;
  try {
    fd = await openAt(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw errnoOf(error) === 'ENXIO' ? noPlainFile(shown) : readFailure(error, shown);
  }
  const stats = await statFd(fd, { bigint: true });
  if (stats.isFile()) return { fd, changed: stats.mtimeNs, close: () => closeFd(fd) };
  await closeFd(fd);
  throw noPlainFile(shown);
}

function noPlainFile(shown: string): FilingsError {
  return new FilingsError('local_io', `${shown}: cannot read: it is no plain file`, { hint: 'move it away' });
}
