import { fstatSync, writev } from 'node:fs';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { behind, forOneCall } from '../disk/chunks.ts';
import type { OutputStream } from '../world.ts';

// How bytes go out. Errors are the system's own, or the signal's reason.

const writevTo = promisify(writev);

/**
 * Whether a stream is a file, or a device that is no terminal: it is written to by its descriptor, since Node's own
 * stream for files takes a short write, as on a disk that gets full, for a whole one. Everything else is written to by
 * Node's stream: a thread of the pool that writes to a pipe is held, and the process with it, by a reader that never reads.
 */
export function isPlain(stream: OutputStream): stream is OutputStream & { readonly fd: number } {
  if (stream.fd === undefined || stream.isTTY) return false;
  const stats = fstatSync(stream.fd);
  return stats.isFile() || stats.isCharacterDevice();
}

/** Writes to a file or a device, for as long as it takes part of it. */
export async function writeToDescriptor(fd: number, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  for (let rest = chunks; rest.length > 0; ) {
    signal.throwIfAborted();
    const { bytesWritten } = await writevTo(fd, forOneCall(rest));
    rest = behind(rest, bytesWritten);
  }
}

/** Writes to a pipe, a socket or a terminal; a reader that never reads holds nothing beyond the signal. */
export function writeToStream(stream: Writable, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  guardStream(stream);
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    stream.cork();
    for (const chunk of chunks.slice(0, -1)) stream.write(chunk);
    stream.write(chunks.at(-1) ?? '', (error) => {
      signal.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve();
    });
    stream.uncork();
    if (signal.aborted) onAbort();
  });
}

/** Errors of a stream also come as events, which end the program when nobody listens. */
export function guardStream(stream: Writable): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
}
