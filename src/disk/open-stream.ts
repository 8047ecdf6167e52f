// Opens files that users name and that may be pipes, such as that of `<(command)`. `regular-file.ts` refuses pipes.
import { constants, createReadStream, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { openAny } from './regular-file.ts';

/**
 * `signal` ends the wait for the writer of a FIFO. The caller must read the stream to its end or destroy it, whatever
 * the stats of the opened file say.
 */
export function openStream(
  path: string,
  { signal, ...readOptions }: { readonly signal?: AbortSignal; readonly highWaterMark?: number },
): { readonly stats: Stats; readonly stream: Readable } {
  const { fd, stats } = openAny(path, constants.O_RDONLY);
  if (!stats.isFIFO()) return { stats, stream: createReadStream('', { fd, ...readOptions }) };
  // A plain read of a FIFO that has no writer yet returns the end of the file. Node's `Socket` waits until there is
  // something to read, and blocks no thread meanwhile.
  return { stats, stream: new Socket({ fd, readable: true, writable: false, ...(signal && { signal }) }) };
}
