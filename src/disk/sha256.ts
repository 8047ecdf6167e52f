import { createHash, hash } from 'node:crypto';
import { constants, createReadStream, readSync } from 'node:fs';
import { closeFile } from './calls.ts';
import { readError } from './failure.ts';
import { openPlain } from './plain-file.ts';

// Hashes files: a small one by a single synchronous call, a large one in blocks that are read ahead.

/** A smaller file is read by one synchronous call, which takes a third of the time. */
const BLOCK_BYTES = 1 << 20;

/** Returns the SHA-256 of a file in lower-case hexadecimal digits. Throws `local_io` or the signal's reason. */
export async function sha256OfFile(path: string, displayPath: string, signal: AbortSignal): Promise<string> {
  try {
    const { fd, stats } = await openPlain(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return await sha256Of(fd, stats.size, () => signal.throwIfAborted()).finally(() => closeFile(fd));
  } catch (error) {
    throw signal.aborted ? signal.reason : readError(error, displayPath);
  }
}

/**
 * Returns the SHA-256 of an open file, including bytes that are appended meanwhile. Calls `onHashed` with the number of
 * bytes after each block; it may delay the next block, or throw. Throws the system error, the error of `onHashed`.
 */
export async function sha256Of(
  fd: number,
  size: number,
  onHashed: (bytes: number) => Promise<void> | void,
): Promise<string> {
  if (size < BLOCK_BYTES) {
    const bytes = readSmall(fd, size);
    await onHashed(bytes.length);
    return hash('sha256', bytes);
  }
  const sum = createHash('sha256');
  const blocks: AsyncIterable<Buffer> = createReadStream('', {
    fd,
    start: 0,
    autoClose: false,
    highWaterMark: BLOCK_BYTES,
  });
  for await (const block of blocks) {
    sum.update(block);
    await onHashed(block.length);
  }
  return sum.digest('hex');
}

function readSmall(fd: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const bytes = readSync(fd, buffer, length, buffer.length - length, length);
    if (bytes === 0) break;
    length += bytes;
  }
  return buffer.subarray(0, length);
}
