import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { readFailure } from './failure.ts';

const READ_BYTES = 1 << 20;

/**
 * The SHA-256 of a file as it stands on disk, in lower-case hexadecimal digits; `shown`
 * is its path for people. Throws `local_io`, the signal's reason.
 */
export async function sha256OfFile(path: string, shown: string, signal: AbortSignal): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES, null);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw readFailure(error, shown);
  } finally {
    await file?.close().catch(() => {});
  }
}
