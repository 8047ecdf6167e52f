// Writes to stdout and stderr. Handles short writes, a reader that has closed the pipe, and a reader that does not
// read.
import { fstatSync, writev } from 'node:fs';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createAbortController, onAbort } from '../abort.ts';
import { dropWritten } from '../disk/calls.ts';
import { writeError } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { OutputStream } from '../world.ts';

const STDERR = 2;
const USUAL_COLUMNS = 80;
const writevTo = promisify(writev);

/**
 * Resolves when the data is written, or is in the pipe to the reader. Throws `local_io` for stdout, with the system
 * error as its cause. Throws the signal's reason, which ends the wait for a reader that does not read.
 */
export async function write(
  stream: OutputStream,
  data: string | Uint8Array,
  signal: AbortSignal = createAbortController().signal,
): Promise<void> {
  signal.throwIfAborted();
  await writeChunks(stream, [Buffer.from(data)], signal).catch((error) => {
    signal.throwIfAborted();
    // An error of stderr is ignored, because it could not be reported.
    if (stream.fd !== STDERR) throw writeError(error, 'stdout');
  });
}

/** Returns whether an error of `write` says that the reader closed its end. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.code === 'local_io' && errnoOf(error.cause) === 'EPIPE';
}

/**
 * Throws the system error or the signal's reason. A file, or a device that is no terminal, is written by its
 * descriptor, because Node's own stream for files ignores a short write, as on a full disk. Everything else is written
 * by Node's stream, because a reader that never reads would block a thread of the pool, and with the thread the end of
 * the process.
 */
export async function writeChunks(stream: OutputStream, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  if (stream.fd === undefined || stream.isTTY) return writeToStream(stream, chunks, signal);
  const stats = fstatSync(stream.fd);
  if (stats.isFile() || stats.isCharacterDevice()) return writeToDescriptor(stream.fd, chunks, signal);
  return writeToStream(stream, chunks, signal);
}

/** Writes the rest after each short write. Throws the system error or the signal's reason. */
export async function writeToDescriptor(fd: number, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  for (let rest = chunks; rest.length > 0; ) {
    signal.throwIfAborted();
    rest = dropWritten(rest, (await writevTo(fd, rest)).bytesWritten);
  }
}

/** Does not wait for a stuck reader once the signal aborts. Throws the stream's error or the signal's reason. */
export function writeToStream(stream: Writable, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  guardStream(stream);
  return new Promise((resolve, reject) => {
    const unsubscribe = onAbort(signal, reject);
    stream.cork();
    for (const chunk of chunks.slice(0, -1)) stream.write(chunk);
    stream.write(chunks.at(-1) ?? '', (error) => {
      unsubscribe();
      if (error) reject(error);
      else resolve();
    });
    stream.uncork();
  });
}

/** Adds an error listener, because an error event without a listener ends the program. */
export function guardStream(stream: Writable): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
}

/** Returns the width of the terminal in columns: its own, otherwise `COLUMNS`, otherwise 80. */
export function columnsOf(
  { columns }: OutputStream,
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number {
  return columns || (/^[1-9]\d{0,5}$/.test(COLUMNS) ? Number(COLUMNS) : USUAL_COLUMNS);
}
