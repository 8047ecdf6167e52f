// Hashes files in blocks. Each block is read by a synchronous call, which takes a third of the time for small files;
// between two blocks the program can do other work.
import { createHash } from 'node:crypto';
import { closeSync, constants, readSync } from 'node:fs';
import { yieldToEventLoop } from '../abort.ts';
import { readError } from './failure.ts';
import { openPlain } from './plain-file.ts';

const MAX_BLOCK_BYTES = 1 << 20;

/** Returns the SHA-256 of a file in lower-case hexadecimal digits. Throws `local_io` or the signal's reason. */
export async function sha256OfFile(path: string, displayPath: string, signal: AbortSignal): Promise<string> {
  try {
    const { fd, stats } = openPlain(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return await sha256Of(fd, stats.size, signal).finally(() => closeSync(fd));
  } catch (error) {
    throw signal.aborted ? signal.reason : readError(error, displayPath);
  }
}

/**
 * Returns the SHA-256 of an open file of about `size` bytes. Calls `onHashed` with the number of bytes of each block.
 * Throws the system error or the signal's reason.
 */
export async function sha256Of(
  fd: number,
  size: number,
  signal: AbortSignal,
  onHashed?: (bytes: number) => void,
): Promise<string> {
  const sum = createHash('sha256');
  const block = Buffer.allocUnsafe(Math.min(size + 1, MAX_BLOCK_BYTES));
  for (let position = 0; ; ) {
    const bytes = readSync(fd, block, 0, block.length, position);
    if (bytes === 0) return sum.digest('hex');
    sum.update(block.subarray(0, bytes));
    position += bytes;
    onHashed?.(bytes);
    if (bytes === MAX_BLOCK_BYTES) await yieldToEventLoop(signal);
  }
}
