// Hashes files in blocks. Blocks are read synchronously, because for small files that takes a third of the time that
// the thread pool needs. After each full block, the event loop gets a turn, so that Ctrl-C and --deadline still work.
import { createHash, hash } from 'node:crypto';
import { closeSync, constants, readSync } from 'node:fs';
import { yieldToEventLoop } from '../abort.ts';
import { toReadError } from './failure.ts';
import { openRegular } from './open-file.ts';

const MAX_BLOCK_BYTES = 1 << 20;

/** Refuses a symbolic link. Throws the signal's reason, or `local_io`. */
export async function hashFile(path: string, displayPath: string, signal: AbortSignal): Promise<string> {
  try {
    const { fd, stats } = openRegular(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return await hashOpenFile(fd, stats.size, signal).finally(() => closeSync(fd));
  } catch (error) {
    throw signal.aborted ? signal.reason : toReadError(error, displayPath);
  }
}

/** `size` only sets the size of the buffer. `onHashed` gets the number of bytes of each block. */
export async function hashOpenFile(
  fd: number,
  size: number,
  signal: AbortSignal,
  onHashed?: (bytes: number) => void,
): Promise<string> {
  const running = createHash('sha256');
  // `+ 1`, because a read into an empty buffer looks like the end of the file, even if the file has grown since `size`.
  const block = Buffer.allocUnsafe(Math.min(size + 1, MAX_BLOCK_BYTES));
  for (let position = 0; ; ) {
    const bytes = readSync(fd, block, 0, block.length, position);
    if (bytes === 0) return running.digest('hex');
    running.update(block.subarray(0, bytes));
    position += bytes;
    onHashed?.(bytes);
    // After a shorter block, hardly any bytes are left, so the hash is ready without a pause.
    if (bytes === MAX_BLOCK_BYTES) await yieldToEventLoop(signal);
  }
}

/**
 * Returns the first 12 bytes of a text's SHA-256, as one character each: a million names take the same space however
 * long they are. The chance that any two of a billion names have the same digest is 1 in 10^11. V8 copies a slice of 12
 * characters, but a longer slice would keep the string of the whole hash in memory.
 */
export function digestOf(text: string): string {
  return hash('sha256', text, 'binary').slice(0, 12);
}
