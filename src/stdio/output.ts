import { systemReason } from '../disk/system-reason.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { OutputStream } from '../world.ts';
import { isPlain, writeToDescriptor, writeToStream } from './raw-write.ts';

const STDERR = 2;

/**
 * Writes text or bytes to a standard stream; resolves when they are written, or taken by the reader's pipe.
 * @param signal gives up waiting for a reader that does not read
 * @throws FilingsError `local_io` with the system's error as its cause, for stdout; the signal's reason
 */
export async function write(
  stream: OutputStream,
  data: string | Uint8Array,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  signal.throwIfAborted();
  const chunks = [Buffer.from(data)];
  try {
    await (isPlain(stream) ? writeToDescriptor(stream.fd, chunks, signal) : writeToStream(stream, chunks, signal));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // Where stderr can't be written there is nowhere to say so: no reason to fail.
    if (stream.fd !== STDERR) throw cannotWrite(error);
  }
}

/** Whether an error says that the reader of stdout went away. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.code === 'local_io' && errnoOf(error.cause) === 'EPIPE';
}

function cannotWrite(cause: unknown): FilingsError {
  return new FilingsError('local_io', `stdout: cannot be written: ${systemReason(cause)}`, {
    hint:
      errnoOf(cause) === 'ENOSPC' ? 'the disk is full: make room and run it again' : 'check where it is redirected to',
    cause,
  });
}
