// Writes to stdout, stderr, devices, FIFOs and open descriptors, from which no byte can be removed again. Node's
// streams are not enough: for a file they ignore a short write, and on abort they would wait for a reader that never
// reads.
import { constants, fstatSync, statSync, writev } from 'node:fs';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createAbortController, onAbort, type Sleep } from '../abort.ts';
import { closeFile, dropWritten, openFile } from '../disk/calls.ts';
import { toWriteError } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { OutputStream, World } from '../world.ts';
import { findDescriptor } from './output-path.ts';

/** The wait between attempts to open a FIFO that has no reader yet. */
const READER_POLL_MS = 50;
const STDERR = 2;
const SIGPIPE = 13;
const DEFAULT_COLUMNS = 80;
const writevTo = promisify(writev);

export interface ByteWriter {
  /** Throws `local_io`, `interrupted` if the reader has closed the pipe, or `signal.reason`. */
  write(chunks: readonly Buffer[], signal: AbortSignal): Promise<void>;
  /** Leaves stdout and the files that the shell has opened open. */
  end(): Promise<void>;
}

/**
 * Throws the signal's reason even if the reader of a pipe has stopped reading. Without `signal`, waits for such a
 * reader. Otherwise it throws what a `ByteWriter` throws.
 */
export async function write(
  stream: OutputStream,
  data: string | Uint8Array,
  signal: AbortSignal = createAbortController().signal,
): Promise<void> {
  signal.throwIfAborted();
  const writer = createStreamWriter(stream, 'stdout');
  await writer.write([Buffer.from(data)], signal).catch((error) => {
    signal.throwIfAborted();
    // There is nowhere to report an error of stderr.
    if (stream.fd !== STDERR) throw error;
  });
}

export function createStandardWriter(name: 'stdout' | 'stderr', world: Pick<World, 'stdout' | 'stderr'>): ByteWriter {
  return createStreamWriter(world[name], name);
}

/**
 * Writes to files and devices through the descriptor, because Node's stream for files ignores a short write, such as
 * one to a disk that has become full. Writes to pipes, sockets and terminals through Node's stream: through the
 * descriptor, a reader that never reads would block a thread of libuv's pool, and the process could not end.
 */
function createStreamWriter(stream: OutputStream, name: string): ByteWriter {
  const { fd } = stream;
  let usesDescriptor: boolean | undefined;
  return createWriter(name, async (chunks, signal) => {
    // Examined once, because fstat for each chunk would take a tenth of the time of a download.
    usesDescriptor ??= fd !== undefined && !stream.isTTY && isFileOrDevice(fd);
    if (fd !== undefined && usesDescriptor) await writeToDescriptor(fd, chunks, signal);
    else await writeToStream(stream, chunks, signal);
  });
}

function isFileOrDevice(fd: number): boolean {
  const stats = fstatSync(fd);
  return stats.isFile() || stats.isCharacterDevice();
}

/**
 * SIGPIPE ends most programs when the reader of a pipe closes it. Node ignores it, so EPIPE has the same effect: exit
 * status 141 (128 plus 13), and nothing printed.
 */
function createWriter(name: string, write: ByteWriter['write'], end: ByteWriter['end'] = async () => {}): ByteWriter {
  return {
    write: (chunks, signal) =>
      write(chunks, signal).catch((cause) => {
        if (cause === signal.reason) throw cause;
        if (errnoOf(cause) !== 'EPIPE') throw toWriteError(cause, name);
        throw new FilingsError('interrupted', 'its reader closed it', { subject: { name }, signal: SIGPIPE, cause });
      }),
    end,
  };
}

export function isClosedPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.signal === SIGPIPE;
}

export function isClosedStdout(error: unknown): boolean {
  return isClosedPipe(error) && (error as FilingsError).subject?.name === 'stdout';
}

/** Expects a path for which `isStreamPath` is true. Waits until a FIFO has a reader. */
export async function openPathWriter(
  path: string,
  world: Pick<World, 'stdout' | 'stderr' | 'sleep'>,
  signal: AbortSignal,
): Promise<ByteWriter> {
  const descriptor = findDescriptor(path);
  if (descriptor === 1) return createStandardWriter('stdout', world);
  if (descriptor === 2) return createStandardWriter('stderr', world);
  const stats = descriptor === undefined ? undefined : fstatSync(descriptor);
  // A file that the shell has opened, with `3>>log` for example, would be written at its beginning if it were opened
  // again, and a socket cannot be opened.
  const inherited = stats?.isFile() || stats?.isSocket() ? descriptor : undefined;
  const fd = inherited ?? (await openForWriting(path, world.sleep, signal));
  const isPipe = stats?.isSocket() || fstatSync(fd).isFIFO();
  // Loaded only here, because most commands do not need these modules.
  const [{ Socket }, { isatty, WriteStream }] = await Promise.all([import('node:net'), import('node:tty')]);
  if (isPipe) return createPipeWriter(new Socket({ fd, readable: false, writable: true }), path);
  // A terminal that is open with O_NONBLOCK may not accept all bytes at once. Node's stream waits and writes the rest.
  if (isatty(fd)) return createPipeWriter(new WriteStream(fd), path);
  const end = async () => (inherited === undefined ? closeFile(fd) : undefined);
  return createWriter(path, (chunks, writeSignal) => writeToDescriptor(fd, chunks, writeSignal), end);
}

export async function writeText(path: string, text: string | Uint8Array, world: World): Promise<void> {
  const writer = await openPathWriter(path, world, world.interrupt);
  await writer.write([Buffer.from(text)], world.interrupt);
  await writer.end();
}

/**
 * Polls, because without O_NONBLOCK the call would block a thread of libuv's pool until the FIFO has a reader. With it,
 * the call fails with ENXIO (POSIX, open).
 */
async function openForWriting(path: string, sleep: Sleep, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      // A device that is not connected, or a socket, fails with ENXIO as well. Waiting does not help there.
      if (errnoOf(error) !== 'ENXIO' || !statSync(path).isFIFO()) throw toWriteError(error, path);
    }
    await sleep(READER_POLL_MS, signal);
  }
}

function createPipeWriter(pipe: Socket, path: string): ByteWriter {
  const end = async () => {
    // After an abort, `end` would wait for a reader that may never read.
    if (pipe.writableLength > 0) pipe.destroy();
    else await new Promise<void>((resolve) => pipe.end(() => resolve()));
  };
  return createWriter(path, (chunks, signal) => writeToStream(pipe, chunks, signal), end);
}

/** After a short write, writes the rest. */
async function writeToDescriptor(fd: number, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
  for (let rest = chunks; rest.length > 0; ) {
    signal.throwIfAborted();
    rest = dropWritten(rest, (await writevTo(fd, rest)).bytesWritten);
  }
}

/** Stops waiting for the reader when the signal aborts. */
function writeToStream(stream: Writable, chunks: readonly Buffer[], signal: AbortSignal): Promise<void> {
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
