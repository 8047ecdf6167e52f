import { createHash } from 'node:crypto';
import { constants, read } from 'node:fs';
import { promisify } from 'node:util';
import { FilingsError } from '../errors.ts';
import { readFailure } from './failure.ts';
import { closeFile, openPlain } from './plain-file.ts';

const READ_BYTES = 1 << 20;
const readAt = promisify(read);

/**
 * The SHA-256 of a file as it is on disk, in lower-case hexadecimal digits; `shown` is its path for people. Throws
 * `local_io`, the signal's reason.
 */
export async function sha256OfFile(path: string, shown: string, signal: AbortSignal): Promise<string> {
  const opened = await openPlain(path, constants.O_RDONLY).catch((error) => {
    throw readFailure(error, shown);
  });
  if (!opened) throw new FilingsError('local_io', `${shown}: cannot read: it is not a regular file`);
  try {
    return await sha256OfBytes(chunksOf(opened.fd), shown, signal);
  } finally {
    await closeFile(opened.fd).catch(() => {});
  }
}

/** The SHA-256 of bytes that come from a file; as above. */
export async function sha256OfBytes(bytes: AsyncIterable<Buffer>, shown: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      hash.update(chunk);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw readFailure(error, shown);
  }
  return hash.digest('hex');
}

/** The bytes of an open file, front to back, up to `end`; each chunk's memory is used again for the next. */
export async function* chunksOf(fd: number, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  for (let position = 0; position < end; ) {
    const { bytesRead } = await readAt(fd, buffer, 0, Math.min(READ_BYTES, end - position), position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
