// Writers for destinations from which no byte can be removed again: stdout, devices, FIFOs and open descriptors. What a
// command prints goes through `write` of output.ts instead.
//
//   createStandardWriter   a download or a report to stdout
//   openPathWriter         the same to a path for which `isStreamPath` is true
//   writeText              a whole text to such a path
import { constants, fstatSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty, WriteStream } from 'node:tty';
import type { Sleep } from '../abort.ts';
import { closeFile, openFile } from '../disk/calls.ts';
import { toWriteError } from '../disk/failure.ts';
import { errnoOf } from '../errors.ts';
import type { World } from '../world.ts';
import { createChunkWriter, toStreamError, writeToDescriptor, writeToStream } from './output.ts';
import { findDescriptor } from './output-path.ts';

/** The wait between attempts to open a FIFO that has no reader yet. */
const READER_POLL_MS = 50;

export interface ByteWriter {
  /** Throws `local_io`, `interrupted` if the reader has closed the pipe, or `signal.reason`. */
  write(chunks: readonly Buffer[], signal: AbortSignal): Promise<void>;
  /** Leaves stdout and the files that the shell has opened open. */
  end(): Promise<void>;
}

export function createStandardWriter(name: 'stdout' | 'stderr', world: Pick<World, 'stdout' | 'stderr'>): ByteWriter {
  return createWriter(name, createChunkWriter(world[name]));
}

function createWriter(name: string, write: ByteWriter['write'], end: ByteWriter['end'] = async () => {}): ByteWriter {
  return {
    write: (chunks, signal) =>
      write(chunks, signal).catch((error) => {
        throw toStreamError(error, name, signal);
      }),
    end,
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
  const end = async () => (inherited === undefined ? closeFile(fd) : undefined);
  return createWriter(path, (chunks, writeSignal) => writeToDescriptor(fd, chunks, writeSignal), end);
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

function createPipeWriter(pipe: Socket, path: string): ByteWriter {
  const end = async () => {
    // After an abort, `end` would wait for a reader that may never read.
    if (pipe.writableLength > 0) pipe.destroy();
    else await new Promise<void>((resolve) => pipe.end(() => resolve()));
  };
  return createWriter(path, (chunks, signal) => writeToStream(pipe, chunks, signal), end);
}
