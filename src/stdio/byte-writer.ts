// Writers for destinations from which no byte can be removed again: stdout, devices, FIFOs and open descriptors.
import { constants, fstatSync, stat } from 'node:fs';
import { Socket } from 'node:net';
import { isatty, WriteStream } from 'node:tty';
import { promisify } from 'node:util';
import type { Sleep } from '../abort.ts';
import { closeFile, openFile } from '../disk/calls.ts';
import { toWriteError } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { createChunkWriter, writeToDescriptor, writeToStream } from './output.ts';

const statAt = promisify(stat);
/** The wait between attempts to open a FIFO that has no reader yet. */
const READER_POLL_MS = 50;
const SIGPIPE = 13;
const LINE_FEED = 0x0a;
const DESCRIPTOR = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/;

export interface ByteWriter {
  /** Throws `local_io`, `interrupted` if the reader has closed the pipe, or `signal.reason`. */
  write(chunks: readonly Buffer[], signal: AbortSignal): Promise<void>;
  /** Leaves stdout and the files that the shell has opened open. */
  end(): Promise<void>;
}

export function createStdoutWriter({ stdout, stderr }: Pick<World, 'stdout' | 'stderr'>): ByteWriter {
  // Before the first byte, the cursor is at the start of a line.
  let lastByte: number | undefined = LINE_FEED;
  const writeChunks = createChunkWriter(stdout);
  return {
    write(chunks, signal) {
      // This is set even if the write fails: at worst, `end` writes a line break too many or too few.
      lastByte = chunks.at(-1)?.at(-1);
      return mapErrors(writeChunks(chunks, signal), 'stdout', signal);
    },
    async end() {
      // The next message on the same terminal must not continue the last line of the data.
      if (stdout.isTTY && stderr.isTTY && lastByte !== LINE_FEED) stderr.write('\n');
    },
  };
}

/** `-` is the usual one, the others are the system's. */
export function isStdout(path: string): boolean {
  return /^(?:-|\/dev\/stdout|\/(?:dev|proc\/self)\/fd\/1)$/.test(path);
}

/** Devices, FIFOs and open descriptors are written like stdout. */
export async function isStreamPath(path: string): Promise<boolean> {
  // A path that does not exist yet, or cannot be examined, is left to the code for files.
  const stats = await statAt(path).catch(() => undefined);
  if (stats === undefined || stats.isDirectory()) return false;
  return DESCRIPTOR.test(path) || stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice();
}

/** Waits until a FIFO has a reader. */
export async function openPathWriter(path: string, sleep: Sleep, signal: AbortSignal): Promise<ByteWriter> {
  const [, descriptor] = DESCRIPTOR.exec(path) ?? [];
  // `/dev/fd/3` may be a file that the shell has opened, with `3>>log` for example. Opening the path again would write
  // at its beginning, so the shell's descriptor is used as it is.
  const isShellsFile = descriptor !== undefined && fstatSync(Number(descriptor)).isFile();
  const fd = isShellsFile ? Number(descriptor) : await openForWriting(path, sleep, signal);
  if (fstatSync(fd).isFIFO()) return createPipeWriter(new Socket({ fd, readable: false, writable: true }), path);
  // A terminal that is open with O_NONBLOCK may not accept all bytes at once. Node's stream waits and writes the rest.
  if (isatty(fd)) return createPipeWriter(new WriteStream(fd), path);
  const write: ByteWriter['write'] = (chunks, writeSignal) =>
    mapErrors(writeToDescriptor(fd, chunks, writeSignal), path, writeSignal);
  return { write, end: async () => (isShellsFile ? undefined : closeFile(fd)) };
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
      if (errnoOf(error) !== 'ENXIO' || !(await statAt(path)).isFIFO()) throw toWriteError(error, path);
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
