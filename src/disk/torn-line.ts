import { fstat, read } from 'node:fs';
import { promisify } from 'node:util';

const LINE_FEED = 0x0a;
const statFd = promisify(fstat);
const readAt = promisify(read);

/** Whether the last line of an open file has no end: a full disk or a kill tore it. Throws what the system says. */
export async function isTorn(fd: number): Promise<boolean> {
  const { size } = await statFd(fd);
  if (size === 0) return false;
  const { bytesRead, buffer } = await readAt(fd, Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== LINE_FEED;
}
