// The sink for a pipe, a device or standard output.
import type { ByteWriter } from '../stdio/output.ts';
import type { Sink } from './transfer.ts';

/**
 * What a pipe holds on Linux (pipe(7)). A larger write would wait for the reader several times. The connection would
 * stand still for that long, because the program does not read from the network during a write.
 */
const MAX_WRITE_BYTES = 65_536;

export function createPipe(writer: ByteWriter, signal: AbortSignal): Sink {
  let bytes = 0;
  return {
    version: {},
    maxWriteBytes: MAX_WRITE_BYTES,
    get bytes() {
      return bytes;
    },
    get isRestartable() {
      return bytes === 0;
    },
    /** Has nothing to drop: it is called only before the first byte. */
    async restart() {},
    async write(chunks) {
      // Bytes of a failed write are not counted, but no error of a write is retryable.
      await writer.write(chunks, signal);
      for (const { length } of chunks) bytes += length;
    },
  };
}
