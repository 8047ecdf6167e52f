// Writes to stdout and stderr, and finds the width of a terminal. Node's streams are not enough for writing: for a file
// they ignore a short write, and on abort they would wait for a reader that never reads.
import { fstatSync, type Stats, writev } from 'node:fs';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createAbortController, onAbort } from '../abort.ts';
import { dropWritten } from '../disk/calls.ts';
import { toWriteError } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { OutputStream } from '../world.ts';

const STDERR = 2;
const DEFAULT_COLUMNS = 80;
const writevTo = promisify(writev);

/**
 * Resolves when the system has taken all data. Throws the signal's reason as soon as it aborts, even if the reader of a
 * pipe has stopped reading. Without `signal`, waits for such a reader. Throws `local_io` if stdout cannot be written,
 * with the system error as its cause.
 */
export async function write(
  stream: OutputStream,
  data: string | Uint8Array,
  signal: AbortSignal = createAbortController().signal,
): Promise<void> {
  signal.throwIfAborted();
  await createChunkWriter(stream)([Buffer.from(data)], signal).catch((error) => {
    signal.throwIfAborted();
    // An error of stderr is ignored, because there is nowhere to report it.
    if (stream.fd !== STDERR) throw toWriteError(error, 'stdout');
  });
}

/** Returns whether a write to stdout failed because the reader has closed the pipe. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.code === 'local_io' && errnoOf(error.cause) === 'EPIPE';
}

/**
 * Returns a function that writes to files and devices through the descriptor, because Node's stream for files ignores a
 * short write, such as one to a disk that has become full. It writes to pipes, sockets and terminals through Node's
 * stream. A write through the descriptor would block a thread of libuv's pool if the reader never reads, and the
 * process could not end. The function throws the system error or the signal's reason.
 */
export function createChunkWriter(stream: OutputStream) {
  const { fd } = stream;
  let usesDescriptor: boolean | undefined;
  return async (chunks: readonly Buffer[], signal: AbortSignal): Promise<void> => {
    // Examined once, at the first write, because fstat for each chunk would take a tenth of the time of a download.
    // The streams that tests pass have no descriptor.
    usesDescriptor ??= fd !== undefined && !stream.isTTY && isFileOrDevice(fstatSync(fd));
    if (fd !== undefined && usesDescriptor) await writeToDescriptor(fd, chunks, signal);
    else await writeToStream(stream, chunks, signal);
  };
}

function isFileOrDevice(stats: Stats): boolean {
  return stats.isFile() || stats.isCharacterDevice();
}

/** After a short write, writes the rest. Throws the system error or the signal's reason. */
export async function writeToDescriptor(fd: number, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  for (let rest = chunks; rest.length > 0; ) {
    signal.throwIfAborted();
    rest = dropWritten(rest, (await writevTo(fd, rest)).bytesWritten);
  }
}

/** Stops waiting for the reader when the signal aborts. Throws the stream's error or the signal's reason. */
export function writeToStream(stream: Writable, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  guardStream(stream);
  return new Promise((resolve, reject) => {
    const unsubscribe = onAbort(signal, reject);
    // Corked, so that all chunks go to the system in one call. The callback of the last write settles the promise. So
    // if there are no chunks, an empty string is written.
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

/** An `error` event without a listener would end the program. Errors are handled where each write is awaited. */
export function guardStream(stream: Writable): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
}

/** Returns the width of a terminal: what it says itself, otherwise `COLUMNS`, otherwise 80. */
export function terminalColumns(
  { columns }: OutputStream,
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number {
  // Not `??`, because some terminals say that they have 0 columns.
  return columns || (/^[1-9]\d{0,5}$/.test(COLUMNS) ? Number(COLUMNS) : DEFAULT_COLUMNS);
}
