// Node's streams are not enough for writing: for a file they ignore a short write, and on abort they would wait for a
// reader that never reads.
import { fstatSync, type Stats, writev } from 'node:fs';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createAbortController, onAbort } from '../abort.ts';
import { dropWritten } from '../disk/calls.ts';
import { toWriteError } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { OutputStream } from '../world.ts';

const STDERR = 2;
const SIGPIPE = 13;
const DEFAULT_COLUMNS = 80;
const writevTo = promisify(writev);

/**
 * Throws the signal's reason even if the reader of a pipe has stopped reading. Without `signal`, waits for such a
 * reader. Throws `local_io`, or `interrupted` if the reader has closed the pipe.
 */
export async function write(
  stream: OutputStream,
  data: string | Uint8Array,
  signal: AbortSignal = createAbortController().signal,
): Promise<void> {
  signal.throwIfAborted();
  await createChunkWriter(stream)([Buffer.from(data)], signal).catch((error) => {
    signal.throwIfAborted();
    // There is nowhere to report an error of stderr.
    if (stream.fd !== STDERR) throw toStreamError(error, 'stdout', signal);
  });
}

/**
 * SIGPIPE ends most programs when the reader of a pipe closes it. Node ignores it, so this error has the same effect:
 * exit status 141 (128 plus 13), and nothing printed.
 */
export function toStreamError(error: unknown, name: string, signal: AbortSignal): unknown {
  if (error === signal.reason) return error;
  if (errnoOf(error) !== 'EPIPE') return toWriteError(error, name);
  return new FilingsError('interrupted', 'its reader closed it', { subject: { name }, signal: SIGPIPE, cause: error });
}

export function isClosedPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.signal === SIGPIPE;
}

export function isClosedStdout(error: unknown): boolean {
  return isClosedPipe(error) && (error as FilingsError).subject?.name === 'stdout';
}

/**
 * Writes to files and devices through the descriptor, because Node's stream for files ignores a short write, such as
 * one to a disk that has become full. Writes to pipes, sockets and terminals through Node's stream: through the
 * descriptor, a reader that never reads would block a thread of libuv's pool, and the process could not end.
 */
export function createChunkWriter(stream: OutputStream) {
  const { fd } = stream;
  let usesDescriptor: boolean | undefined;
  return async (chunks: readonly Buffer[], signal: AbortSignal): Promise<void> => {
    // Examined once, because fstat for each chunk would take a tenth of the time of a download.
    usesDescriptor ??= fd !== undefined && !stream.isTTY && isFileOrDevice(fstatSync(fd));
    if (fd !== undefined && usesDescriptor) await writeToDescriptor(fd, chunks, signal);
    else await writeToStream(stream, chunks, signal);
  };
}

function isFileOrDevice(stats: Stats): boolean {
  return stats.isFile() || stats.isCharacterDevice();
}

/** After a short write, writes the rest. */
export async function writeToDescriptor(fd: number, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  for (let rest = chunks; rest.length > 0; ) {
    signal.throwIfAborted();
    rest = dropWritten(rest, (await writevTo(fd, rest)).bytesWritten);
  }
}

/** Stops waiting for the reader when the signal aborts. */
export function writeToStream(stream: Writable, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  guardStream(stream);
  return new Promise((resolve, reject) => {
    const unsubscribe = onAbort(signal, reject);
    // Corked, so that all chunks go to the system in one call. The last write settles the promise, so there must be
    // one.
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

/** What the terminal says itself, otherwise `COLUMNS`, otherwise 80. */
export function terminalColumns(
  { columns }: OutputStream,
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number {
  // Some terminals say that they have 0 columns.
  return columns || (/^[1-9]\d{0,5}$/.test(COLUMNS) ? Number(COLUMNS) : DEFAULT_COLUMNS);
}
