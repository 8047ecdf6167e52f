// Makes writers for destinations from which no byte can be removed: stdout, devices, FIFOs and open descriptors.
import { constants, fstatSync, stat } from 'node:fs';
import { Socket } from 'node:net';
import { isatty, WriteStream } from 'node:tty';
import { promisify } from 'node:util';
import type { Sleep } from '../abort.ts';
import { closeFile, openFile } from '../disk/calls.ts';
import { writeError } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { writeChunks, writeToDescriptor, writeToStream } from './output.ts';

const statAt = promisify(stat);
/** The time between two attempts to open a FIFO that has no reader yet, in milliseconds. */
const READER_POLL_MS = 50;
const SIGPIPE = 13;
const LINE_FEED = 0x0a;
const DESCRIPTOR = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/;

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

/** Returns whether a path is stdout by another name. */
export function isStdout(path: string): boolean {
  return /^(?:-|\/dev\/stdout|\/(?:dev|proc\/self)\/fd\/1)$/.test(path);
}

/** Returns whether an absolute path names a device, a FIFO or an open file, which are written like stdout. */
export async function isStreamPath(path: string): Promise<boolean> {
  const stats = await statAt(path).catch(() => undefined);
  if (stats === undefined || stats.isDirectory()) return false;
  return DESCRIPTOR.test(path) || stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice();
}

/** Returns a writer for such a path. Waits for the reader of a FIFO. Throws `local_io` and the signal's reason. */
export async function pathWriter(path: string, sleep: Sleep, signal: AbortSignal): Promise<ByteWriter> {
  const [, open] = DESCRIPTOR.exec(path) ?? [];
  // A file that the shell has opened is written where the shell says, such as behind its end.
  const isOpenFile = open !== undefined && fstatSync(Number(open)).isFile();
  const fd = isOpenFile ? Number(open) : await openWhenRead(path, sleep, signal);
  if (fstatSync(fd).isFIFO()) return pipeWriter(new Socket({ fd, readable: false, writable: true }), path);
  // A terminal that was opened without blocking may not accept all bytes at once.
  if (isatty(fd)) return pipeWriter(new WriteStream(fd), path);
  const write = (chunks: readonly Buffer[], until: AbortSignal) =>
    withNamedErrors(writeToDescriptor(fd, chunks, until), path, until);
  return { write, end: async () => (isOpenFile ? undefined : closeFile(fd)) };
}

/** Polls, because opening a FIFO that has no reader would block a thread of the pool. */
async function openWhenRead(path: string, sleep: Sleep, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (errnoOf(error) !== 'ENXIO' || !(await statAt(path)).isFIFO()) throw writeError(error, path);
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
    if (errnoOf(error) !== 'EPIPE') throw writeError(error, name);
    throw new FilingsError('interrupted', 'its reader went away', { subject: { name }, signal: SIGPIPE, cause: error });
  });
}
