// Writers for destinations from which no byte can be removed again: stdout, devices, FIFOs and open descriptors.
import { constants, fstatSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty, WriteStream } from 'node:tty';
import type { Sleep } from '../abort.ts';
import { closeFile, openFile } from '../disk/calls.ts';
import { toWriteError } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { createChunkWriter, writeToDescriptor, writeToStream } from './output.ts';
import { findDescriptor } from './output-path.ts';

/** The wait between attempts to open a FIFO that has no reader yet. */
const READER_POLL_MS = 50;
const SIGPIPE = 13;
const LINE_FEED = 0x0a;

export interface ByteWriter {
  /** Throws `local_io`, `interrupted` if the reader has closed the pipe, or `signal.reason`. */
  write(chunks: readonly Buffer[], signal: AbortSignal): Promise<void>;
  /** Leaves stdout and the files that the shell has opened open. */
  end(): Promise<void>;
}

export function createStandardWriter(name: 'stdout' | 'stderr', world: Pick<World, 'stdout' | 'stderr'>): ByteWriter {
  const { [name]: stream, stderr } = world;
  // Before the first byte, the cursor is at the start of a line.
  let lastByte: number | undefined = LINE_FEED;
  let lastSignal: AbortSignal | undefined;
  const writeChunks = createChunkWriter(stream);
  return {
    write(chunks, signal) {
      // This is set even if the write fails: at worst, `end` writes a line break too many or too few.
      lastByte = chunks.at(-1)?.at(-1);
      lastSignal = signal;
      return mapErrors(writeChunks(chunks, signal), name, signal);
    },
    async end() {
      // The next message on the same terminal must not continue the last line of the data. After Ctrl-C, progress.ts has
      // already begun a new line.
      if (stream.isTTY && stderr.isTTY && lastByte !== LINE_FEED && !lastSignal?.aborted) stderr.write('\n');
    },
  };
}

/** Expects a path for which `isStreamPath` is true. Waits until a FIFO has a reader. */
export async function openPathWriter(
  path: string,
  world: Pick<World, 'stdout' | 'stderr' | 'sleep'>,
  signal: AbortSignal,
): Promise<ByteWriter> {
  const descriptor = findDescriptor(path);
  if (descriptor === 1 || descriptor === 2) return createStandardWriter(descriptor === 1 ? 'stdout' : 'stderr', world);
  const stats = descriptor === undefined ? undefined : fstatSync(descriptor);
  // A file that the shell has opened, with `3>>log` for example, would be written at its beginning if it were opened
  // again, and a socket cannot be opened.
  const inherited = stats?.isFile() || stats?.isSocket() ? descriptor : undefined;
  const fd = inherited ?? (await openForWriting(path, world.sleep, signal));
  const isPipe = stats?.isSocket() || fstatSync(fd).isFIFO();
  if (isPipe) return createPipeWriter(new Socket({ fd, readable: false, writable: true }), path);
  // A terminal that is open with O_NONBLOCK may not accept all bytes at once. Node's stream waits and writes the rest.
  if (isatty(fd)) return createPipeWriter(new WriteStream(fd), path);
  const write: ByteWriter['write'] = (chunks, writeSignal) =>
    mapErrors(writeToDescriptor(fd, chunks, writeSignal), path, writeSignal);
  return { write, end: async () => (inherited === undefined ? closeFile(fd) : undefined) };
}

/** Writes a text to a path for which `isStreamPath` is true. */
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

function createPipeWriter(pipe: Socket, name: string): ByteWriter {
  return {
    write: (chunks, signal) => mapErrors(writeToStream(pipe, chunks, signal), name, signal),
    async end() {
      // After an abort, `end` would wait for a reader that may never read.
      if (pipe.writableLength > 0) pipe.destroy();
      else await new Promise<void>((resolve) => pipe.end(() => resolve()));
    },
  };
}

/** The reader of a pipe has closed it. */
export function isClosedPipe(error: unknown): error is FilingsError {
  return error instanceof FilingsError && error.signal === SIGPIPE;
}

/**
 * SIGPIPE ends most programs when the reader of a pipe closes it. Node ignores it, so this error has the same effect:
 * exit status 141 (128 plus 13), and nothing printed.
 */
async function mapErrors(written: Promise<void>, name: string, signal: AbortSignal): Promise<void> {
  await written.catch((error) => {
    if (error === signal.reason) throw error;
    if (errnoOf(error) !== 'EPIPE') throw toWriteError(error, name);
    throw new FilingsError('interrupted', 'its reader closed it', { subject: { name }, signal: SIGPIPE, cause: error });
  });
}
