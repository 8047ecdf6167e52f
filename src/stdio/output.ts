import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { errnoOf, FilingsError } from '../errors.ts';
import type { OutputStream } from '../world.ts';

const STDERR = 2;

/**
 * Writes text or bytes to a standard stream; resolves when they are written, or taken by the reader's pipe.
 * @param signal gives up waiting for a reader that does not read
 * @throws FilingsError `local_io` with the system's error as its cause, for stdout; the signal's reason
 */
export async function write(stream: OutputStream, data: string | Uint8Array, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  try {
    if (isFile(stream)) writeWhole(stream.fd, Buffer.from(data));
    else await pushed(stream, data, signal);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    // Where stderr can't be written there is nowhere to say so: no reason to fail.
    if (stream.fd !== STDERR) throw cannotWrite(error);
  }
}

/** Whether an error says that the reader of stdout went away. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.code === 'local_io' && errnoOf(error.cause) === 'EPIPE';
}

/** Errors of a stream also come as events, which end the program when nobody listens. */
export function guardStream(stream: Writable): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
}

/** A file or a device that is no terminal. */
function isFile(stream: OutputStream): stream is OutputStream & { fd: number } {
  if (stream.fd === undefined || stream.isTTY) return false;
  const stats = fstatSync(stream.fd);
  return stats.isFile() || stats.isCharacterDevice();
}

/** Node's own stream for files takes a short write, as on a disk that gets full, for a whole one. */
function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(fd, bytes, written, bytes.length - written);
  }
}

function pushed(stream: OutputStream, data: string | Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  guardStream(stream);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    stream.write(data, (error) => {
      signal?.removeEventListener('abort', abort);
      if (error) reject(error);
      else resolve();
    });
  });
}

function cannotWrite(cause: unknown): FilingsError {
  const errno = errnoOf(cause) ?? 'unknown error';
  return new FilingsError('local_io', `stdout: cannot be written (${errno})`, {
    hint: errno === 'ENOSPC' ? 'the disk is full: make room and run it again' : 'check where it is redirected to',
    cause,
  });
}
