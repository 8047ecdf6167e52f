import { constants, fstatSync, stat } from 'node:fs';
import { Socket } from 'node:net';
import { isatty, WriteStream } from 'node:tty';
import { promisify } from 'node:util';
import type { Sleep } from '../abort.ts';
import { closeFile, openFile } from '../disk/calls.ts';
import { diskError } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { writeChunks, writeToDescriptor, writeToStream } from './output.ts';

// Makes writers for destinations from which no byte can be removed: stdout, devices, FIFOs and open descriptors.

const statAt = promisify(stat);
/** The time between two attempts to open a FIFO that has no reader yet, in milliseconds. */
const READER_POLL_MS = 50;
const SIGPIPE = 13;
const LINE_FEED = 0x0a;

/** Writes bytes in order to a destination from which they cannot be removed: stdout, a device, a FIFO. */
export interface ByteWriter {
  /** Throws `local_io`, `interrupted` if the reader closed its end, and the signal's reason. */
  write(chunks: readonly Buffer[], signal: AbortSignal): Promise<void>;
  /** Closes the destination, but not stdout. */
  end(): Promise<void>;
}

/** Returns a writer for stdout. */
export function stdoutWriter({ stdout, stderr }: Pick<World, 'stdout' | 'stderr'>): ByteWriter {
  let lastByte: number | undefined = LINE_FEED;
  return {
    write(chunks, signal) {
      lastByte = chunks.at(-1)?.at(-1);
      return withNamedErrors(writeChunks(stdout, chunks, signal), 'stdout', signal);
    },
    async end() {
      // The next message begins a new line.
      if (stdout.isTTY && stderr.isTTY && lastByte !== LINE_FEED) stderr.write('\n');
    },
  };
}

const DESCRIPTORS = new Map([
  ['/dev/stdin', 0],
  ['/dev/stdout', 1],
  ['/dev/stderr', 2],
]);

/** Returns the descriptor of this process that an absolute path names (`/dev/fd/1`), or undefined. */
export function descriptorAt(path: string): number | undefined {
  const [, number] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path) ?? [];
  return number === undefined ? DESCRIPTORS.get(path) : Number(number);
}

/** Returns whether an absolute path names a device, a FIFO or an open descriptor, which are written like stdout. */
export async function isStreamPath(path: string): Promise<boolean> {
  if (descriptorAt(path) !== undefined) return true;
  const stats = await statAt(path).catch(() => undefined);
  return stats !== undefined && (stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice());
}

/** Returns a writer for such a path. Waits for the reader of a FIFO. Throws `local_io` and the signal's reason. */
export async function pathWriter(path: string, sleep: Sleep, signal: AbortSignal): Promise<ByteWriter> {
  const descriptor = descriptorAt(path);
  // If the file were opened by its path, it would be written from its beginning.
  if (descriptor !== undefined && (await statAt(path).catch(() => undefined))?.isFile()) {
    return descriptorWriter(descriptor, path, async () => {});
  }
  const fd = await openWhenRead(path, sleep, signal);
  if (fstatSync(fd).isFIFO()) return pipeWriter(new Socket({ fd, readable: false, writable: true }), path);
  // A terminal that was opened without blocking may not accept all bytes at once.
  if (isatty(fd)) return pipeWriter(new WriteStream(fd), path);
  return descriptorWriter(fd, path, () => closeFile(fd));
}

function descriptorWriter(fd: number, name: string, end: () => Promise<void>): ByteWriter {
  return { write: (chunks, signal) => withNamedErrors(writeToDescriptor(fd, chunks, signal), name, signal), end };
}

/** Polls, because opening a FIFO that has no reader would block a thread of the pool. */
async function openWhenRead(path: string, sleep: Sleep, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (errnoOf(error) !== 'ENXIO' || !(await statAt(path)).isFIFO()) throw diskError(error, path);
    }
    await sleep(READER_POLL_MS, signal);
  }
}

function pipeWriter(pipe: Socket, name: string): ByteWriter {
  return {
    write: (chunks, signal) => withNamedErrors(writeToStream(pipe, chunks, signal), name, signal),
    async end() {
      // Queued data was aborted: destroy the stream, do not wait for a stuck reader.
      if (pipe.writableLength > 0) pipe.destroy();
      else await new Promise<void>((resolve) => pipe.end(() => resolve()));
    },
  };
}

/**
 * Adds the name to errors. If the reader closed its end, the program ends as others in a pipe do: silently, with 141.
 */
async function withNamedErrors(written: Promise<void>, name: string, signal: AbortSignal): Promise<void> {
  await written.catch((error) => {
    if (error === signal.reason) throw error;
    if (errnoOf(error) !== 'EPIPE') throw diskError(error, name);
    throw new FilingsError('interrupted', 'its reader went away', { subject: { name }, signal: SIGPIPE, cause: error });
  });
}
