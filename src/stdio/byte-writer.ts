import { constants, fstatSync, stat } from 'node:fs';
import { Socket } from 'node:net';
import { isatty, WriteStream } from 'node:tty';
import { promisify } from 'node:util';
import type { Sleep } from '../abort.ts';
import { closeFile, openFile } from '../disk/calls.ts';
import { diskFailure } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { writeChunks, writeToDescriptor, writeToStream } from './output.ts';

const statAt = promisify(stat);
/** How often a FIFO is asked whether somebody reads by now. */
const READER_POLL_MS = 50;
const SIGPIPE = 13;
const LINE_FEED = 0x0a;

/** Takes bytes in order; nothing written can be taken back. */
export interface ByteWriter {
  /** Throws `local_io`, `interrupted` when the reader went away, the signal's reason. */
  write(chunks: readonly Buffer[], signal: AbortSignal): Promise<void>;
  /** Standard output stays open. */
  end(): Promise<void>;
}

export function stdoutWriter({ stdout, stderr }: Pick<World, 'stdout' | 'stderr'>): ByteWriter {
  let last: number | undefined = LINE_FEED;
  return {
    write(chunks, signal) {
      last = chunks.at(-1)?.at(-1);
      return namingErrors(writeChunks(stdout, chunks, signal), 'stdout', signal);
    },
    async end() {
      // What is said next gets a line of its own.
      if (stdout.isTTY && stderr.isTTY && last !== LINE_FEED) stderr.write('\n');
    },
  };
}

const DESCRIPTORS = new Map([
  ['/dev/stdin', 0],
  ['/dev/stdout', 1],
  ['/dev/stderr', 2],
]);

/** Of our own descriptors the one that an absolute path names, whatever it is open to: `/dev/fd/1`. */
export function descriptorAt(path: string): number | undefined {
  const [, number] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path) ?? [];
  return number === undefined ? DESCRIPTORS.get(path) : Number(number);
}

/** Whether an absolute path names something that is written like stdout: a device, a FIFO, an open descriptor. */
export async function isStreamPath(path: string): Promise<boolean> {
  if (descriptorAt(path) !== undefined) return true;
  const stats = await statAt(path).catch(() => undefined);
  return stats !== undefined && (stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice());
}

/** For a device or a FIFO; waits for a FIFO's reader. */
export async function pathWriter(path: string, sleep: Sleep, signal: AbortSignal): Promise<ByteWriter> {
  const own = descriptorAt(path);
  // Opened by its path, a file would be written from its beginning.
  if (own !== undefined && (await statAt(path).catch(() => undefined))?.isFile()) {
    return descriptorWriter(own, path, async () => {});
  }
  const fd = await openWhenRead(path, sleep, signal);
  if (fstatSync(fd).isFIFO()) return pipeWriter(new Socket({ fd, readable: false, writable: true }), path);
  // Opened not to block, a terminal may be slower than we are.
  if (isatty(fd)) return pipeWriter(new WriteStream(fd), path);
  return descriptorWriter(fd, path, () => closeFile(fd));
}

function descriptorWriter(fd: number, name: string, end: () => Promise<void>): ByteWriter {
  return { write: (chunks, signal) => namingErrors(writeToDescriptor(fd, chunks, signal), name, signal), end };
}

/** Opening a FIFO that nobody reads would hold a thread of the pool: it is tried again and again. */
async function openWhenRead(path: string, sleep: Sleep, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return await openFile(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (errnoOf(error) !== 'ENXIO' || !(await statAt(path)).isFIFO()) throw diskFailure(error, path);
    }
    await sleep(READER_POLL_MS, signal);
  }
}

function pipeWriter(pipe: Socket, name: string): ByteWriter {
  return {
    write: (chunks, signal) => namingErrors(writeToStream(pipe, chunks, signal), name, signal),
    async end() {
      // What still waits was given up by its signal: no reader that never reads holds the end.
      if (pipe.writableLength > 0) pipe.destroy();
      else await new Promise<void>((resolve) => pipe.end(() => resolve()));
    },
  };
}

/** A reader that went away ends the program as it would end any other in the pipe: quietly, with 141. */
async function namingErrors(written: Promise<void>, name: string, signal: AbortSignal): Promise<void> {
  await written.catch((error) => {
    if (error === signal.reason) throw error;
    if (errnoOf(error) !== 'EPIPE') throw diskFailure(error, name);
    throw new FilingsError('interrupted', 'its reader went away', { subject: { name }, signal: SIGPIPE, cause: error });
  });
}
