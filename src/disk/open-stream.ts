// Opens files that users name and that may be pipes, such as that of `<(command)`. `regular-file.ts` refuses pipes.
import { constants, createReadStream, fstatSync, openSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/**
 * `signal` ends the wait for the writer of a FIFO. The caller must read the stream to its end or destroy it, whatever
 * the stats of the opened file say.
 */
export function openStream(
  path: string,
  { signal, ...readOptions }: { readonly signal?: AbortSignal; readonly highWaterMark?: number },
): { readonly stats: Stats; readonly stream: Readable } {
  // O_NONBLOCK, because opening a FIFO that has no writer would block the whole process. O_NOCTTY, because a terminal
  // must not become the controlling terminal.
  const fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  const stats = fstatSync(fd);
  if (!stats.isFIFO()) return { stats, stream: createReadStream('', { fd, ...readOptions }) };
  // A plain read of a FIFO that has no writer yet returns the end of the file. Node's `Socket` waits until there is
  // something to read, and blocks no thread meanwhile.
  return { stats, stream: new Socket({ fd, readable: true, writable: false, ...(signal && { signal }) }) };
}
