import { close, constants, fstatSync, open as openFd, stat } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { isatty, WriteStream } from 'node:tty';
import { promisify } from 'node:util';
import type { Sleep } from '../abort.ts';
import { Appender } from '../disk/append.ts';
import { diskFailure } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { OutputStream } from '../world.ts';
import { isPlain, writeToDescriptor, writeToStream } from './output.ts';

const openAt = promisify(openFd);
const closeFd = promisify(close);
const statAt = promisify(stat);
/** How often a FIFO is asked whether somebody reads by now. */
const READER_POLL_MS = 50;

/** Takes bytes in order, for good: nothing written can be taken back. */
export interface ByteWriter {
  /** Resolves when the bytes are out of our hands; throws `local_io`, `interrupted` when the reader went away, the signal's reason. */
  write(chunks: readonly Buffer[], signal: AbortSignal): Promise<void>;
  /** Ends it; standard output stays open. */
  end(): Promise<void>;
}

/** A writer for standard output, whatever that is. */
export function stdoutWriter(stdout: OutputStream): ByteWriter {
  if (isPlain(stdout)) return descriptorWriter(stdout.fd, 'stdout');
  return { write: streamWrite(stdout, 'stdout'), async end() {} };
}

/** Whether a path names something that is written like stdout: a device, a FIFO, an open descriptor. */
export async function isStreamPath(path: string): Promise<boolean> {
  if ((await descriptorAt(path)) !== undefined) return true;
  const stats = await statAt(path).catch(() => undefined);
  return stats !== undefined && (stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice());
}

/** The number of our own open descriptor that a path names, whatever it is open to: `/dev/stdout`, `/dev/fd/1`. */
export async function descriptorAt(path: string): Promise<number | undefined> {
  try {
    const directory = await realpath(dirname(path));
    const named = join(directory, basename(path));
    const ours = await realpath('/dev/fd');
    if (directory === ours && /^\d+$/.test(basename(named))) return Number(basename(named));
    const target = await readlink(named);
    return await descriptorAt(resolve(dirname(named), target));
  } catch {
    return undefined;
  }
}

/** A writer that appends lines to a plain file, which other processes may append to, too. Throws `local_io`. */
export async function lineAppender(path: string): Promise<ByteWriter> {
  const handle = await open(path, 'a+').catch((error) => {
    throw diskFailure(error, path);
  });
  const appender = new Appender(handle);
  return {
    async write(chunks, signal) {
      signal.throwIfAborted();
      await namingErrors(appender.append(Buffer.concat(chunks)), path, signal);
    },
    end: () => appender.close(),
  };
}

/** A writer for a device or a FIFO; waits for a FIFO's reader. */
export async function pathWriter(path: string, sleep: Sleep, signal: AbortSignal): Promise<ByteWriter> {
  const fd = await openWhenRead(path, sleep, signal);
  if (fstatSync(fd).isFIFO()) return pipeWriter(new Socket({ fd, readable: false, writable: true }), path);
  // Opened not to block, a terminal may be slower than we are.
  if (isatty(fd)) return pipeWriter(new WriteStream(fd), path);
  const writer = descriptorWriter(fd, path);
  return { write: writer.write, end: () => closeFd(fd) };
}

/** Opening a FIFO that nobody reads would hold a thread of the pool: it is tried without waiting, again and again. */
async function openWhenRead(path: string, sleep: Sleep, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return await openAt(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (errnoOf(error) !== 'ENXIO' || !(await statAt(path)).isFIFO()) throw diskFailure(error, path);
    }
    await sleep(READER_POLL_MS, signal);
  }
}

function pipeWriter(pipe: Socket, name: string): ByteWriter {
  return {
    write: streamWrite(pipe, name),
    async end() {
      // What still waits was given up by its signal: no reader that never reads holds the end.
      if (pipe.writableLength > 0) pipe.destroy();
      else await new Promise<void>((resolve) => pipe.end(() => resolve()));
    },
  };
}

function descriptorWriter(fd: number, name: string): ByteWriter {
  return {
    write: (chunks, signal) => namingErrors(writeToDescriptor(fd, chunks, signal), name, signal),
    async end() {},
  };
}

function streamWrite(stream: Writable, name: string): ByteWriter['write'] {
  return (chunks, signal) => namingErrors(writeToStream(stream, chunks, signal), name, signal);
}

async function namingErrors(written: Promise<void>, name: string, signal: AbortSignal): Promise<void> {
  try {
    await written;
  } catch (error) {
    throw error === signal.reason ? error : writeFailure(error, name);
  }
}

const SIGPIPE = 13;

/** A reader that went away ends the program as it would end any other in the pipe: quietly, with 141. */
function writeFailure(error: unknown, name: string): FilingsError {
  if (errnoOf(error) === 'EPIPE') {
    return new FilingsError('interrupted', `${name}: its reader went away`, { signal: SIGPIPE, cause: error });
  }
  return diskFailure(error, name);
}
