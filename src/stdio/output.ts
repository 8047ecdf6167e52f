import { fstatSync, writev } from 'node:fs';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createAbortController, onAbort } from '../abort.ts';
import { unwrittenAfter } from '../disk/calls.ts';
import { diskFailure } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { OutputStream } from '../world.ts';

const STDERR = 2;
const USUAL_COLUMNS = 80;
const writevTo = promisify(writev);

/**
 * Resolves when the data is written, or taken by the reader's pipe.
 * @param signal gives up waiting for a reader that does not read
 * @throws FilingsError `local_io` with the system's error as its cause, for stdout; the signal's reason
 */
export async function write(
  stream: OutputStream,
  data: string | Uint8Array,
  signal: AbortSignal = createAbortController().signal,
): Promise<void> {
  signal.throwIfAborted();
  await writeChunks(stream, [Buffer.from(data)], signal).catch((error) => {
    signal.throwIfAborted();
    // Where stderr can't be written there is nowhere to say so: no reason to fail.
    if (stream.fd !== STDERR) throw diskFailure(error, 'stdout');
  });
}

export function isBrokenPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.code === 'local_io' && errnoOf(error.cause) === 'EPIPE';
}

/**
 * Throws what the system says, or the signal's reason. A file, or a device that is no terminal, is written to by its
 * descriptor, since Node's own stream for files takes a short write, as on a disk that gets full, for a whole one.
 * Everything else is written to by Node's stream: a thread of the pool that writes to a pipe is held, and the process with
 * it, by a reader that never reads.
 */
export async function writeChunks(stream: OutputStream, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  if (stream.fd === undefined || stream.isTTY) return writeToStream(stream, chunks, signal);
  const stats = fstatSync(stream.fd);
  if (stats.isFile() || stats.isCharacterDevice()) return writeToDescriptor(stream.fd, chunks, signal);
  return writeToStream(stream, chunks, signal);
}

/** For as long as part of it is taken. */
export async function writeToDescriptor(fd: number, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  for (let rest = chunks; rest.length > 0; ) {
    signal.throwIfAborted();
    rest = unwrittenAfter(rest, (await writevTo(fd, rest)).bytesWritten);
  }
}

/** A reader that never reads holds nothing beyond the signal. */
export function writeToStream(stream: Writable, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  guardStream(stream);
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject);
    stream.cork();
    for (const chunk of chunks.slice(0, -1)) stream.write(chunk);
    stream.write(chunks.at(-1) ?? '', (error) => {
      forget();
      if (error) reject(error);
      else resolve();
    });
    stream.uncork();
  });
}

/** Errors of a stream also come as events, which end the program when nobody listens. */
export function guardStream(stream: Writable): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
}

export function columnsOf(
  { columns }: OutputStream,
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number {
  return columns || (/^[1-9]\d{0,5}$/.test(COLUMNS) ? Number(COLUMNS) : USUAL_COLUMNS);
}
